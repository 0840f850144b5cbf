"""walk.py - what maint/walk runs inside gdb: steps from walk_begin() to walk_end() and counts."""
import os
import gdb

# One logical stack: for each frame of the machine the functions that the compiler inlined into it,
# outermost first. Each is (name, .c file); functions of headers are left out.


class Chains:
    """The functions at each address of the library, outermost first."""

    def __init__(self):
        self.known = {}

    def at(self, pc):
        if pc not in self.known:
            chain, block = [], gdb.block_for_pc(pc)
            while block is not None:
                f = block.function
                if f is not None and f.symtab.filename.endswith(".c"):
                    chain.insert(0, (f.name, "/".join(f.symtab.filename.split("/")[-2:])))
                block = block.superblock
            self.known[pc] = chain
        return self.known[pc]


def mapped(name):
    """Address range of the file NAME in the process: (first, behind the last)."""
    lines = gdb.execute("info proc mappings", to_string=True).splitlines()
    ranges = [line.split()[:2] for line in lines if line.split("/")[-1].startswith(name)]
    return range(min(int(r[0], 16) for r in ranges), max(int(r[1], 16) for r in ranges))


def is_call(pc):
    """Is the instruction at PC a call? (x86-64: direct, or through a register or memory)"""
    text = gdb.selected_inferior().read_memory(pc, 3).tobytes()
    if text[0] in (0x41, 0x42, 0x43, 0x3e, 0xf2):
        text = text[1:]
    return text[0] == 0xe8 or text[0] == 0xff and text[1] & 0x38 == 0x10


def register(name):
    return int(gdb.parse_and_eval("(unsigned long)$" + name))


def step(library, program):
    """One instruction, calls into other libraries stepped over; returns where it leads."""
    gdb.execute("stepi", to_string=True)
    pc = register("pc")
    if pc not in library and pc not in program:
        gdb.execute("tbreak *%d" % int(gdb.parse_and_eval("*(unsigned long *)$rsp")), to_string=True)
        gdb.execute("continue", to_string=True)
        pc = register("pc")
    return pc


def walk(call, show):
    library, program, chains = mapped("libmpi.so"), mapped("walk"), Chains()
    frames = []  # (stack pointer at the call, chain there)
    before, last, called, depth = [], [], False, 0
    files, crossings, steps, tree = {}, 0, 0, []
    end = int(gdb.parse_and_eval("(unsigned long)&walk_end"))
    while True:
        pc = step(library, program)
        if pc == end:
            break
        if pc not in library:  # the program itself
            frames, before, last = [], [], []
            continue
        steps += 1
        sp = register("rsp")
        while frames and sp >= frames[-1][0]:
            frames.pop()
        chain = chains.at(pc)
        if last and not called and depth == len(frames) and chain[:1] != last[:1]:
            frames.append((frames[-1][0] if frames else 1 << 64, last))  # a jump: a tail call
        here = [f for _, c in frames for f in c] + chain
        same = 0
        while same < min(len(here), len(before)) and here[same] == before[same]:
            same += 1
        for k in range(same, len(here)):
            if k == 0 or here[k][1] != here[k - 1][1]:
                crossings += 1
                files[here[k][1]] = files.get(here[k][1], 0) + 1
                tree.append("  " * k + "%s (%s)" % here[k])
        before, last, called = here, chain, is_call(pc)
        if called:
            frames.append((sp, chain))
        depth = len(frames)
    print("walk: %s %d files %d crossings %d instructions" % (call, len(files), crossings, steps))
    if "files" in show:
        for f in sorted(files, key=lambda f: (-files[f], f)):
            print("walk:     %3d %s" % (files[f], f))
    if "tree" in show:
        for line in tree:
            print("walk:     " + line)


gdb.execute("set pagination off")
gdb.execute("set breakpoint pending on")
gdb.execute("handle all nostop noprint pass", to_string=True)
gdb.execute("break walk_begin", to_string=True)
gdb.execute("run", to_string=True)
gdb.execute("delete", to_string=True)
args = gdb.execute("show args", to_string=True).split('"')[1]
walk(args.strip(), str(gdb.parse_and_eval("$walk_show")))
gdb.execute("continue", to_string=True)
