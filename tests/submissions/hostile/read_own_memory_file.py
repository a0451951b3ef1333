# hostile: read; expect: refused; says: Permission denied: '/proc/self/mem'
import ctypes

open('/proc/self/mem', 'r+b', buffering=0).read(1)
