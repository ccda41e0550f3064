# What is run in place of a service's own script, LAB_APPLICATION, which it runs in turn: by uwsgi those of WSGI, by python octavia-worker's.
#
# Their threads are real. But oslo.log gives `logging` a lock of eventlet's as soon as anything has imported that, and two real
# threads that meet there block the service for good: "greenlet.error: cannot switch to a different thread".
import os

from oslo_log import log

log._fix_eventlet_logging = lambda: None

with open(os.environ['LAB_APPLICATION']) as script:
    exec(compile(script.read(), script.name, 'exec'))
