from tfprof.api import load
from tfprof.errors import TfprofError
