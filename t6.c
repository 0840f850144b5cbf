#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int c,char**v){
  MPI_Init(&c,&v); int r,n;MPI_Comm_rank(MPI_COMM_WORLD,&r);MPI_Comm_size(MPI_COMM_WORLD,&n);
  size_t W=18u<<20,A=20u<<20,B=17u<<20;char*base;MPI_Win win;
  MPI_Win_allocate(W,1,MPI_INFO_NULL,MPI_COMM_WORLD,&base,&win);MPI_Win_set_errhandler(win,MPI_ERRORS_RETURN);
  char*buf=calloc(1,A),*res=malloc(A);int per=c>1&&*v[1]=='p';int errs=0;
  unsigned s=r+1;
  if(per)for(int k=0;k<n;k++){ if(k!=r)MPI_Win_lock(MPI_LOCK_SHARED,k,0,win);} else MPI_Win_lock_all(0,win);
  for(int i=0;i<30;i++){ s=s*1103515245+12345; int t=(r+1+(s>>16)%(n-1))%n; int k=(s>>8)%9; MPI_Request q=MPI_REQUEST_NULL;
    if(k==0)MPI_Put(buf,A,MPI_CHAR,t,0,A,MPI_CHAR,win);
    else if(k==1)MPI_Get(res,A,MPI_CHAR,t,4,A,MPI_CHAR,win);
    else if(k==2)MPI_Accumulate(buf,A/8,MPI_LONG,t,8,A/8,MPI_LONG,MPI_SUM,win);
    else if(k==3)MPI_Put(buf,B,MPI_CHAR,t,0,W,MPI_CHAR,win);
    else if(k==4)MPI_Rput(buf,A,MPI_CHAR,t,0,A,MPI_CHAR,win,&q);
    else if(k==5)MPI_Get_accumulate(buf,A/8,MPI_LONG,res,A/8,MPI_LONG,t,8,A/8,MPI_LONG,MPI_SUM,win);
    else if(k==6)MPI_Put(buf,8,MPI_CHAR,t,16,8,MPI_CHAR,win);
    else if(k==7)MPI_Accumulate(buf,B/8,MPI_LONG,t,8,B/8+4,MPI_LONG,MPI_SUM,win);
    else errs+=MPI_Win_flush(t,win)!=0;
    if(q!=MPI_REQUEST_NULL)errs+=MPI_Wait(&q,MPI_STATUS_IGNORE)!=0;
  }
  if(per)for(int k=0;k<n;k++){ if(k!=r)errs+=MPI_Win_unlock(k,win)!=0;} else errs+=MPI_Win_unlock_all(win)!=0;
  printf("rank %d errs %d\n",r,errs);fflush(stdout);
  MPI_Win_free(&win);MPI_Finalize();return 0;}
