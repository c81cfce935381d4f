"""The tracker as a WSGI application: roundup's own server does not run as root."""

import os

from roundup.cgi.wsgi_handler import RequestDispatcher

application = RequestDispatcher(os.environ["FOLDER"] + "/tracker")
