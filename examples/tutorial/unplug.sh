# Kills the process that has started it, the first time.
if test ! -e /tmp/plc-tutorial-unplugged; then
	touch /tmp/plc-tutorial-unplugged
	kill -9 "$PPID"
	sleep 10
fi
rm -f /tmp/plc-tutorial-unplugged
echo '"on again"'
