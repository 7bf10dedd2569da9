"""Signs a webhook with standardwebhooks from PyPI.

usage: SECRET=whsec_… sign.py ID SECONDS_SINCE_1970 < body
"""

import os
import sys
from datetime import datetime, timezone

from standardwebhooks import Webhook

at = datetime.fromtimestamp(int(sys.argv[2]), timezone.utc)
print(Webhook(os.environ["SECRET"]).sign(sys.argv[1], at, sys.stdin.read()))
