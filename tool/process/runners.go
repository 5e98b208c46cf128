package process

import "strings"

// words returns the words of a text.
func words(s string) []string { return strings.Fields(s) }

var (
	shell = &runner{
		flags:  words("-a -b -B -C -e -E -f -h -H -l -m -n -p -P -r -T -u -v -x --login --noediting --noprofile --norc --posix --restricted --verbose"),
		values: words("-o +o -O +O --rcfile --init-file"),
		code:   words("-c +c --command"), first: true, then: roleScript, stdin: true, shell: true,
	}
	python = &runner{
		flags: words("-b -B -d -E -I -O -P -q -s -S -u -v -x"), values: words("-W -X --check-hash-based-pycs"),
		code: words("-c -m"), ends: true, then: roleScript, stdin: true,
		never: words("asyncio code coverage cProfile debugpy doctest idlelib inspect IPython pdb pickle pip profile ptpython bpython pudb ipdb pydoc pytest runpy streamlit timeit torch trace unittest viztracer kernprof xonsh"),
	}
	node = &runner{
		flags:  words("--enable-source-maps --experimental-strip-types --no-deprecation --no-warnings --trace-uncaught --trace-warnings"),
		values: words("-r --require --import -C --conditions --loader --experimental-loader --env-file --input-type"),
		code:   words("-e -p -pe --eval --print"), then: roleScript, stdin: true,
	}
	deno = &runner{
		flags:  words("-A -q --allow-all --allow-net --allow-read --allow-write --allow-env --allow-run --no-check --no-prompt --quiet"),
		values: words("--config --import-map --lock"), then: roleScript, stdin: true,
	}
	bun = &runner{code: words("-e -p --eval --print"), values: words("-r --preload --cwd"), then: roleScript, stdin: true}
	lua = &runner{flags: words("-E -W"), values: words("-e -l"), then: roleScript, stdin: true}
	awk = &runner{
		flags: words("-b -c -n -N -O -P -r -S -t --posix --sandbox --traditional --use-lc-numeric"),
		data:  words("-v --assign -F --field-separator"), values: words("-i --include -l --load"),
		code: words("-e --source"), file: words("-f --file -E --exec"), then: roleCode,
	}
	sed = &runner{
		flags:  words("-E -n -r -s -u -z --null-data --posix --quiet --regexp-extended --sandbox --separate --silent --unbuffered"),
		attach: words("--in-place"), stuck: words("-i"), values: words("-l --line-length"),
		code: words("-e --expression"), file: words("-f --file"), then: roleCode, late: true,
	}
	powershell = &runner{
		flags: words("-mta -nologo -noninteractive -noprofile -sta"), values: words("-executionpolicy -version -workingdirectory"),
		file: words("-file"), ends: true, fold: true, stdin: true,
	}
	npx           = &runner{flags: words("-q -y --no --no-install --quiet --yes"), values: words("-p --package -w --workspace"), then: roleProgram, stdin: true}
	launcher      = &runner{then: roleProgram}
	packageScript = &runner{flags: words("-s --silent"), then: roleScript, late: true}
	// An opaque program may run any of its arguments; an input program runs its standard input as
	// well.
	opaque, input = &runner{}, &runner{stdin: true}
)

// runners has the known programs, by name without .exe and a version. A key may include the first
// argument, as in "deno run".
var runners = map[string]*runner{
	"sh": shell, "bash": shell, "rbash": shell, "dash": shell, "ash": shell, "zsh": shell, "ksh": shell, "mksh": shell,
	"csh": shell, "tcsh": shell, "nu": input, "xonsh": input, "elvish": input, "cmd": input,
	"fish":       {flags: words("-l -N -P --login --no-config --private"), code: words("-c --command"), values: words("-C --init-command"), then: roleScript, stdin: true, shell: true},
	"powershell": powershell, "pwsh": powershell, "python": python, "pypy": python, "ipython": input,
	// With -n, -p and -i, perl opens its arguments in a way that runs "command |".
	"perl": {flags: words("-c -s -S -t -T -u -U -w -W -X"), digits: words("-0 -l"), stuck: words("-M -m"), values: words("-I"),
		code: words("-e -E"), then: roleScript, stdin: true},
	"ruby": {flags: words("-a -c -n -l -p -s -w"), digits: words("-0 -W"), attach: words("-i"), stuck: words("-F"), values: words("-C -E -I -r"),
		code: words("-e"), then: roleScript, stdin: true},
	"node": node, "nodejs": node, "tsx": node, "ts-node": node, "node inspect": opaque, "tsx watch": opaque, "lua": lua, "luajit": lua,
	"deno": input, "deno run": deno, "deno eval": {then: roleCode},
	"bun": input, "bun run": bun,
	"php": {flags: words("-C -n -q"), values: words("-c -d -z"), code: words("-r --run"), file: words("-f --file"), then: roleScript, stdin: true},
	"r":   input, "rscript": {flags: words("--no-save --quiet --slave --vanilla"), code: words("-e"), then: roleScript},
	"julia":  {flags: words("-i -q --quiet"), values: words("-C -H -J -L -O -p -t --sysimage --threads"), attach: words("--project"), code: words("-e -E --eval --print"), then: roleScript, stdin: true},
	"elixir": {values: words("-e -r -S -pa -pz --eval --name --sname"), then: roleScript}, "groovy": {values: words("-cp --classpath -D"), code: words("-e"), then: roleScript},
	"osascript": {values: words("-l -s"), code: words("-e"), then: roleScript, stdin: true}, "tclsh": {values: words("-encoding"), then: roleScript, stdin: true},
	"emacs": opaque, "awk": awk, "gawk": awk, "mawk": awk, "nawk": awk, "sed": sed, "gsed": sed,

	"su": input, "runuser": input, "sg": input, "script": input,
	"ssh":  {flags: words("-4 -6 -A -a -C -q -T -t -x"), values: words("-b -c -E -F -i -J -l -m -o -p -S"), skip: 1, then: roleCode, all: true, stdin: true, shell: true},
	"eval": {then: roleCode, all: true, shell: true}, "watch": {flags: words("-b -c -d -e -g -t"), data: words("-n --interval"), then: roleCode, all: true, shell: true},

	"env": {flags: words("-0 -i -v --debug --ignore-environment --null"), values: words("-C --chdir"), data: words("-a --argv0 -u --unset"), env: true, then: roleProgram},
	"xargs": {flags: words("-0 -o -p -r -t -x --no-run-if-empty --null --verbose"), then: roleProgram,
		values: words("-a --arg-file -I"), data: words("-d --delimiter -E -L -n --max-args -P --max-procs --process-slot-var -s --max-chars"), attach: words("-i --replace")},
	"sudo": {flags: words("-A -b -E -H -k -n -P -S --askpass --background --non-interactive --preserve-env --set-home --stdin"), env: true, then: roleProgram,
		values: words("-D --chdir -R --chroot"), data: words("-C --close-from -g --group -h --host -p --prompt -r --role -T --command-timeout -t --type -U --other-user -u --user")},
	"doas": {flags: words("-n"), data: words("-C -u"), then: roleProgram}, "nohup": launcher, "busybox": launcher, "toybox": launcher,
	"setsid": {flags: words("-c -f -w --ctty --fork --wait"), then: roleProgram}, "time": {flags: words("-p -v"), data: words("-f -o"), then: roleProgram},
	"nice": {data: words("-n --adjustment"), then: roleProgram}, "ionice": {flags: words("-t"), data: words("-c -n"), then: roleProgram}, "stdbuf": {data: words("-e -i -o"), then: roleProgram},
	"timeout": {flags: words("-v --foreground --preserve-status --verbose"), data: words("-k --kill-after -s --signal"), skip: 1, then: roleProgram},
	"flock": {flags: words("-e -F -n -o -s -u -x --close --exclusive --nb --no-fork --nonblock --shared --unlock --verbose"), skip: 1, then: roleProgram,
		data: words("-E --conflict-exit-code -w --timeout --wait")},
	"npx": npx, "bunx": npx, "pnpx": npx, "npm": opaque, "npm exec": input, "npm x": input, "npm run": packageScript, "npm run-script": packageScript, "npm test": packageScript,
	"pnpm": opaque, "pnpm exec": input, "pnpm dlx": input, "pnpm run": packageScript, "yarn": opaque, "yarn exec": input, "yarn dlx": input, "yarn run": packageScript,
	"chroot": input,
}
