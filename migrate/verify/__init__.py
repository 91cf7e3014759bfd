"""The proving wing: starts a server, talks to it as clients of both eras do, and tells what it got wrong."""
