# Sourced by scripts that run commands side by side. They have set $scratch, and call `end_jobs` when they exit.
# shellcheck shell=bash

# Each job is a group of processes of its own, so that what it has started ends with it.
set -m
at_once=$(nproc)
jobs_failed=$scratch/failed

# job NAME COMMAND...: runs it once fewer than $at_once run. One line tells that it ended well, after what it left out
# and its counts of tests; else all that it said is shown, and always with $jobs_shown set.
job() {
    local name=$1 log
    shift
    while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n || true; done
    log=$(mktemp "$scratch/job.XXXXXX")
    (
        exec </dev/null
        TIMEFORMAT='%0R s, %0U + %0S s of processor'
        # In a condition the shell would not stop at the first command that fails.
        set +e
        { time { (set -e; "$@") >"$log" 2>&1; }; } 2>"$log.time"
        status=$?
        # Two that end together are shown one after the other.
        exec 9>"$scratch/shown"
        flock 9
        if [ "$status" != 0 ]; then
            echo "$name" >>"$jobs_failed"
            cat "$log"
            echo "-- $name: !!! FAILED !!! ($(cat "$log.time"))"
        else
            if [ -n "${jobs_shown:-}" ]; then cat "$log"; else grep -aE '!!!|^test result:' "$log"; fi
            echo "-- $name: well ($(cat "$log.time"))"
        fi
    ) &
}

# wait_for_jobs: until all have ended; says which failed, and fails if one did.
wait_for_jobs() {
    wait
    [ -e "$jobs_failed" ] || return 0
    sed 's/^/-- failed: /' "$jobs_failed"
    return 1
}

# end_jobs: stops those that run.
end_jobs() {
    local group
    {
        for group in $(jobs -p); do kill -- "-$group" || true; done
        wait || true
    } 2>/dev/null
}
