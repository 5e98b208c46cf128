#!/bin/sh
# What the action in action.yml does. Its inputs are environment variables that begin with PLC_.
#
#	plc.sh install    installs a release of plc, or builds plc from the source of the action
#	plc.sh check      checks the plans, and writes what it finds as SARIF
#	plc.sh diff       writes what has changed in meaning since PLC_BASE
#	plc.sh comment    shows that in the one comment that a pull request has for it
set -eu

temp=${RUNNER_TEMP:-${TMPDIR:-/tmp}}

say() { printf 'plc action: %s\n' "$*" >&2; }

output() { # output NAME VALUE: for later steps
	[ -z "${GITHUB_OUTPUT:-}" ] || printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}

# install

install() {
	bin=$temp/plc-bin version=${PLC_VERSION:-}
	[ -n "$version" ] || version=${PLC_REF:-source}
	mkdir -p "$bin"
	case $version in
	v[0-9]*) release "$version" || build ;;
	*) build ;;
	esac
	[ -z "${GITHUB_PATH:-}" ] || printf '%s\n' "$bin" >>"$GITHUB_PATH"
	"$bin/plc" version
}

# release VERSION: installs a release, whose checksum must be right. It fails if there is none, and
# ends the program if something else is wrong.
release() {
	case ${RUNNER_OS:-$(uname -s)} in
	Linux) os=linux kind=tar.gz ;;
	macOS | Darwin) os=darwin kind=tar.gz ;;
	*) os=windows kind=zip ;;
	esac
	case ${RUNNER_ARCH:-$(uname -m)} in
	ARM64 | arm64 | aarch64) arch=arm64 ;;
	*) arch=amd64 ;;
	esac
	archive=plc_${1#v}_${os}_$arch.$kind
	dir=$(mktemp -d "$temp/plc-release.XXXXXX")
	status=0
	fetch "$1" checksums.txt || status=$?
	case $status in
	0) ;;
	22 | 37) # there is no such file
		say "there is no release $1; building it"
		return 1
		;;
	*)
		say "the release $1 can't be fetched"
		exit 2
		;;
	esac
	fetch "$1" "$archive" || { say "$archive can't be fetched"; exit 2; }
	(
		cd "$dir"
		awk -v name="$archive" '$2 == name || $2 == "*" name' checksums.txt >wanted
		[ -s wanted ] || { say "checksums.txt has no $archive"; exit 1; }
		if command -v sha256sum >/dev/null; then
			sha256sum -c wanted >&2
		else
			shasum -a 256 -c wanted >&2
		fi
	) || { say "the checksum of $archive is not that of the release"; exit 2; }
	case $kind in
	zip) unzip -q -o "$dir/$archive" plc.exe -d "$bin" ;;
	*) tar -xzf "$dir/$archive" -C "$bin" plc ;;
	esac || exit 2
}

fetch() { # fetch VERSION FILE
	curl --proto '=https,file' --retry 3 -fsSL -o "$dir/$2" \
		"${PLC_RELEASES:-https://github.com/plc-lang/plc/releases/download}/$1/$2"
}

# build builds the version that is asked for, or the source that the action came with.
build() {
	case ${PLC_VERSION:-source} in
	source) (cd "$PLC_SOURCE" && GOBIN=$bin go install ./cmd/plc) ;;
	*) GOBIN=$bin go install "github.com/plc-lang/plc/cmd/plc@$PLC_VERSION" ;;
	esac
}

# check and diff

# plans COMMAND…: runs a git command with the patterns of PLC_PLANS as its paths. Their names are
# lines; git quotes those that are more.
plans() {
	set -f
	for pattern in $PLC_PLANS; do
		set -- "$@" "$pattern"
	done
	set +f
	git -c core.quotePath=false "$@"
}

# with_flags COMMAND…: runs a command of plc with the flags that the inputs ask for.
with_flags() {
	while IFS= read -r file; do
		[ -z "$file" ] || set -- "$@" --tools "$file"
	done <<-END
		${PLC_TOOLS:-}
	END
	[ "${PLC_TRUST:-false}" != true ] || set -- "$@" --trust
	plc "$@"
}

check() {
	list=$(mktemp "$temp/plc-plans.XXXXXX")
	plans ls-files -- >"$list"
	set --
	while IFS= read -r plan; do
		case $plan in -*) plan=./$plan ;; esac
		set -- "$@" "$plan"
	done <"$list"
	if [ $# -eq 0 ]; then
		say "no file of the repository matches $PLC_PLANS"
		exit 2
	fi
	[ "${PLC_STRICT:-false}" != true ] || set -- "$@" --strict
	sarif=$temp/plc.sarif status=0
	with_flags check "$@" --format sarif >"$sarif" || status=$?
	[ "$status" -gt 1 ] || output sarif "$sarif"
	with_flags check "$@" || status=$? # in the log
	exit "$status"
}

diff() {
	base=$(git merge-base "$PLC_BASE" HEAD 2>/dev/null) || {
		# Of a shallow clone.
		git cat-file -e "$PLC_BASE^{commit}" 2>/dev/null || git fetch -q --no-tags --depth=1 origin "$PLC_BASE"
		base=$PLC_BASE
	}
	work=$(mktemp -d "$temp/plc-diff.XXXXXX")
	trap 'git worktree remove --force "$work/base" 2>/dev/null || :' EXIT
	git worktree add -q --detach "$work/base" "$base" # documents of delegates are beside their plans
	plans diff --no-renames --name-status "$base" HEAD -- >"$work/changed"
	: >"$work/text"
	while IFS='	' read -r status plan; do
		case $status in
		A) printf '%s: a new plan\n\n' "$plan" ;;
		D) printf '%s: there is no such plan any more\n\n' "$plan" ;;
		*) compare "$plan" ;;
		esac >>"$work/text"
	done <"$work/changed"
	body "$work/text" >"$temp/plc-diff.md"
	[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$temp/plc-diff.md" >>"$GITHUB_STEP_SUMMARY"
	cat "$work/text"
}

compare() { # compare PLAN: with what it was
	differs=0
	with_flags diff --exit-code "$work/base/$1" "./$1" >"$work/out" 2>"$work/err" </dev/null || differs=$?
	if [ -s "$work/out" ] && [ "$differs" -eq 1 ]; then
		printf '%s\n' "$1"
		sed 's/^/  /' "$work/out"
		echo
	elif [ "$differs" -ne 0 ]; then
		printf '%s: can not be compared, since a plan has errors\n\n' "$1"
		cat "$work/err" >&2
	fi
}

marker='<!-- plc diff -->'

# body FILE: the text of the comment. What comes from plans is indented, so that it is nothing but
# text, and the whole has at most as many characters as GitHub takes.
body() {
	printf '%s\n' "$marker"
	if [ ! -s "$1" ]; then
		echo "**plc**: no plan changes its meaning."
		return
	fi
	printf '**plc**: what changes in meaning.\n\n'
	awk 'size + length($0) > 60000 { print "    …"; exit } { size += length($0) + 5; print $0 == "" ? "" : "    " $0 }' "$1"
}

comment() {
	file=$temp/plc-diff.md comments=repos/$GITHUB_REPOSITORY/issues/$PLC_PULL_REQUEST/comments
	old=$(gh api --paginate "$comments" \
		--jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id" | head -n 1)
	if [ -n "$old" ]; then
		gh api -X PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$old" -F "body=@$file" --silent
	elif grep -q '^    ' "$file"; then
		gh api -X POST "$comments" -F "body=@$file" --silent
	fi || say "the comment can't be written; the job needs the permission pull-requests: write"
}

# without_commands NAME: runs this program again, so that the runner takes no line of what it writes
# for a command: names and texts of plans are in them.
without_commands() {
	token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n') status=0
	printf '::stop-commands::%s\n' "$token"
	PLC_COMMANDS=stopped sh "$0" "$1" 2>&1 || status=$?
	printf '\n::%s::\n' "$token"
	exit "$status"
}

case ${1:-} in
check | diff)
	[ "${GITHUB_ACTIONS:-}" != true ] || [ "${PLC_COMMANDS:-}" = stopped ] || without_commands "$1"
	"$1"
	;;
install | comment) "$1" ;;
*)
	say "usage: plc.sh install|check|diff|comment"
	exit 2
	;;
esac
