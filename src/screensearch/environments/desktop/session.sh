# The desktop of one episode: brought up, watched, taken down. POSIX sh, because inside the sandbox there is
# no promise of anything more.
#
#   sh session.sh RUN DISPLAY SCREEN LAUNCHER OUTPUT DISPLAY-LOG BUS-LOG ACCESSIBILITY-LOG MANAGER-LOG COMMAND...
#
# RUN is the runtime directory, DISPLAY is ":0", or "-" for any free one, SCREEN is Xvfb's "1024x768x24",
# LAUNCHER is the program that brings the accessibility bus, OUTPUT is the descriptor that takes what the
# application writes, and the others take what the parts of the desktop say. Standard input carries orders, standard
# output reports, one per line; standard error carries what other tools say.
#
#   orders   furnished          the home, RUN/bus.conf and RUN/openbox.xml are written: go on
#            launch             start COMMAND
#            end of file        the worker is gone or has had enough: end everything
#   reports  begun              the file system is as it will be
#            display NUMBER     Xvfb accepts connections
#            accessibility ADDRESS
#            ready              all is up
#            launched PID
#            failed PART        it did not come up
#            ended PART STATUS  display, bus, accessibility, manager or app; 128+N means signal N
set -u
run=$1 display=$2 screen=$3 launcher=$4 output=$5
display_log=/proc/self/fd/$6 bus_log=/proc/self/fd/$7 accessibility_log=/proc/self/fd/$8 manager_log=/proc/self/fd/$9
shift 9
exec 3<&0 4>&1 5>"/proc/self/fd/$output" </dev/null >&2
[ "$display" = - ] && display=
display_keeper=0

report() { echo "$*" >&4; }

fail() {
    report "failed $1"
    exit 1
}

# keep PART LOG COMMAND...: run it in the background, what it says into LOG, and report its end. Its descriptor 6
# leads to the fifo RUN/PART.up, which it opens when it is up.
keep() {
    (
        part=$1 log=$2
        shift 2
        "$@" 3<&- 4>&- 5>&- 6>"$run/$part.up" >"$log" 2>&1
        report "ended $part $?"
    ) &
}

# Outside a sandbox no namespace ends what was started here: everything that carries our mark is ended, Xvfb politely,
# for it has a socket to remove. The worker does the same when it stops a session: this is for when it was killed.
sweep() {
    [ -n "${SCREENSEARCH_SESSION:-}" ] || return 0
    trap '' PIPE # nobody reads our reports any more
    for _ in 1 2 3 4 5; do # until nobody is found, even while somebody still forks
        found=
        for file in $(env -i grep -lszxF "SCREENSEARCH_SESSION=$SCREENSEARCH_SESSION" /proc/[0-9]*/environ); do
            pid=${file#/proc/}
            pid=${pid%/environ}
            name=
            read -r name <"/proc/$pid/comm"
            if [ "$name" = Xvfb ]; then
                kill -TERM "$pid" && wait "$display_keeper"
            elif [ "$pid" != $$ ] && [ "$pid" != "$display_keeper" ]; then
                found="$found $pid"
            fi
        done
        [ -n "$found" ] || break
        # shellcheck disable=SC2086 # one word per process
        kill -KILL $found
    done 2>/dev/null
    rm -rf "$run"
}
trap sweep EXIT
trap 'exit 1' HUP INT TERM
ulimit -c 0 # a crash is a finding, not a file

report begun
mkfifo "$run/display.up" "$run/bus.up" "$run/manager.up" || fail runtime
# shellcheck disable=SC2086 # an empty display is no word at all
keep display "$display_log" \
    Xvfb $display -screen 0 "$screen" -fbdir "$run" -nolisten tcp -noreset -dpi 96 -nocursor -displayfd 6
display_keeper=$!

read -r _ <&3 || exit 0 # furnished
keep bus "$bus_log" dbus-daemon --nofork --nopidfile --config-file="$run/bus.conf" --print-address=6
read -r _ <"$run/bus.up" || fail bus
read -r number <"$run/display.up" || fail display
export DBUS_SESSION_BUS_ADDRESS="unix:path=$run/bus" DISPLAY=":$number"
report "display $number"

# The window manager says that it is up by running a command. It keeps out of the home, and out of the half megabyte
# of key sequences that an input method would read.
(
    export LC_ALL=C XDG_CACHE_HOME="$run/manager" XDG_CONFIG_HOME="$run/manager" XDG_DATA_HOME="$run/manager"
    openbox --sm-disable --config-file "$run/openbox.xml" --startup "sh -c 'echo up >$run/manager.up'" \
        3<&- 4>&- 5>&- >"$manager_log" 2>&1
    report "ended manager $?"
    : >"$run/manager.up"
) &
# The accessibility launcher says nothing, but bus.conf has a service file for it that starts nothing, so that asking
# for the address waits until it is there.
(
    "$launcher" --launch-immediately --a11y=1 --screen-reader=1 3<&- 4>&- 5>&- >"$accessibility_log" 2>&1
    report "ended accessibility $?"
) &
address=$(dbus-send --session --print-reply=literal --dest=org.a11y.Bus /org/a11y/bus org.a11y.Bus.GetAddress) ||
    fail accessibility
address=${address#"${address%%[! ]*}"}
dbus-send --bus="$address" --print-reply=literal --dest=org.freedesktop.DBus /org/freedesktop/DBus \
    org.freedesktop.DBus.StartServiceByName string:org.a11y.atspi.Registry uint32:0 >/dev/null || fail accessibility
report "accessibility $address"
read -r _ <"$run/manager.up" || fail manager
report ready

while read -r order <&3; do
    case $order in
    launch)
        (
            "$@" 3<&- 4>&- >&5 2>&5 5>&- &
            report "launched $!"
            wait $!
            report "ended app $?"
        ) &
        ;;
    esac
done
