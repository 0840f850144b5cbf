"""Spack recipe of Windrose. In a Spack repository of one's own (spack repo create) it goes to
packages/windrose/package.py; a tree that is checked out is built by
    spack dev-build windrose@main"""
from spack.package import *


class Windrose(AutotoolsPackage):
    """An MPI library (MPI-4.1) with fast and complete one-sided communication. It has the binary
    interface of MPICH and that of MPI-5.0."""

    license("BSD-3-Clause")

    version("main")

    variant("libfabric", default=True, description="Networks through libfabric")
    variant("ucx", default=False, description="Networks through UCX")
    variant("pmix", default=False, description="Start by launchers that speak PMIx")

    provides("mpi@:4.1")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("autoconf@2.71:", type="build")
    depends_on("automake", type="build")
    depends_on("libtool", type="build")
    depends_on("perl", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("binutils", type="build")
    depends_on("hwloc@2:")
    depends_on("libfabric@1.11:", when="+libfabric")
    depends_on("ucx@1.12:", when="+ucx")
    depends_on("pmix@3.1:", when="+pmix")

    def autoreconf(self, spec, prefix):
        which("sh")("autogen.sh")

    def configure_args(self):
        return (
            self.with_or_without("libfabric")
            + self.with_or_without("ucx")
            + self.with_or_without("pmix")
        )

    def setup_dependent_build_environment(self, env, dependent_spec):
        env.set("MPICH_CC", self.compiler.cc)
        env.set("MPICH_CXX", self.compiler.cxx)

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = self.prefix.bin.mpicc
        self.spec.mpicxx = self.prefix.bin.mpicxx
        self.spec.mpifc = self.prefix.bin.mpifort
        self.spec.mpif77 = self.prefix.bin.mpif77
