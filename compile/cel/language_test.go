package cel_test

import (
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile/cel"
)

// language has a condition that holds for each operator and function, and the error of those
// that can't be evaluated behind "!!". Package crosscheck compares many more with cel-go.
const language = `
1 + 2 == 3 && 7 - 9 == -2 && 3 * 4 == 12 && -7 / 2 == -3 && -7 % 3 == -1 && -(3) == -3
1u + 2u == 3u && 7u / 2u == 3u && 7u % 4u == 3u && 2u * 3u == 6u && 3u - 1u == 2u
1.5 + 1.0 == 2.5 && 3.0 / 2.0 == 1.5 && 2.0 * 2.0 == 4.0 && -(1.0) == -1.0
0x1F == 31 && 0x1fu == 31u && .5 == 0.5 && 1e3 == 1000.0 && 010 == 10
9223372036854775807 + 1 == 0 !! integer overflow
-9223372036854775808 - 1 == 0 !! integer overflow
9223372036854775807 * 2 == 0 !! integer overflow
-9223372036854775808 / -1 == 0 !! integer overflow
-(-9223372036854775808) == 0 !! integer overflow
18446744073709551615u + 1u == 0u !! unsigned integer overflow
1u - 2u == 0u !! unsigned integer overflow
18446744073709551615u * 2u == 0u !! unsigned integer overflow
1 % 0 == 1 !! modulus by zero
1 < 2 && 1 < 1.5 && 2u > 1.5 && -1 < 1u && 1.0 <= 1 && 'a' < 'b' && b'a' < b'b' && false < true
18446744073709551615u > 9223372036854775807 && 1 == 1.0 && 1u == 1 && 1.0 == 1u && !(1 == 1.5)
!(0.0 / 0.0 == 0.0 / 0.0) && !(0.0 / 0.0 < 1.0) && !(1 >= 0.0 / 0.0)
true || 1 / 0 == 1
1 / 0 == 1 || true
!(false && 1 / 0 == 1) && !(1 / 0 == 1 && false)
(1 / 0 == 1 || false) !! division by zero
(true ? 1 : 2) == 1 && (false ? 1 : true ? 2 : 3) == 2
!!true && --i == 1 !! there is no "i"
!!true && --(1) == 1 && !(-1 == 1)
"a" 'b' !! unexpected "'b'"
'\x41\u0042\103\U00000044' == 'ABCD' && r'\n' == "\\n" && "\"" == '"' && '''it's''' == "it's"
b'\xff\101' == b"\377A" && bytes('é') == b'\xc3\xa9' && bytes('é').size() == 2 && 'é'.size() == 1
[1, 2] + [3] == [1, 2, 3] && [1, 'a', null][1] == 'a' && [[1], []].size() == 2 && [,] == [] && [1,] == [1]
{'a': 1, 'b': 2} == {'b': 2.0, 'a': 1u} && {1: 'x'}[dyn(1u)] == 'x' && {1: 'x'}[dyn(1.0)] == 'x' && {true: 1}[true] == 1 && {,} == {}
{'a': {'b': [1]}}.a.b[0] == 1 && has({'a': 1}.a) && !has({'a': 1}.b) && 'a' in {'a': 1} && 2 in [1, 2.0]
{[1]: 2} == {} !! list can't be a key
[1, 2, 3].all(x, x > 0) && [1, 2].exists(x, x == 2) && [1, 2].exists_one(x, x > 1) && ![1, 1].exists_one(x, x == 1)
[1, 2, 3].map(x, x * 2) == [2, 4, 6] && [1, 2, 3].map(x, x > 1, x * 2) == [4, 6] && [1, 2, 3].filter(x, x != 2) == [1, 3]
{'b': 1, 'a': 2}.map(k, k) == ['b', 'a'] && {'a': 1}.all(k, k == 'a')
[0, 2].exists(x, 4 / x == 2) && ![0, 1].all(x, 1 / x == 2)
[0, 1].all(x, 1 / x == 1) !! division by zero
[0].map(x, 1 / x) == [] !! division by zero
type(1) == int && type(1u) == uint && type(1.0) == double && type('') == string && type(b'') == bytes && type(true) == bool
type([]) == list && type({}) == map && type(null) == null_type && type(int) == type && type(type(1)) == type
type(timestamp(0)) == google.protobuf.Timestamp && type(duration('1s')) == google.protobuf.Duration
bool('true') && !bool('F') && int('-12') == -12 && int(2.9) == 2 && int(-2.9) == -2 && uint('7') == 7u && double('1e3') == 1000.0
int(dyn('x')) == 1 !! no int can be made of this string
int(1e300) == 1 !! integer overflow
uint(-1) == 1u !! unsigned integer overflow
string(1) == '1' && string(1.5) == '1.5' && string(1e21) == '1e+21' && string(true) == 'true' && string(b'a') == 'a' && string(2u) == '2'
string(b'\xff') == '' !! no string can be made of this bytes
string(duration('90m')) == '5400s' && duration('1.5s') == duration('1500ms') && int(duration('1s')) == 1000000000
string(timestamp('2026-01-02T03:04:05.5+02:00')) == '2026-01-02T03:04:05.5+02:00' && int(timestamp('1970-01-01T00:01:00Z')) == 60
timestamp('2026-01-02T03:04:05Z') + duration('1h') == timestamp('2026-01-02T04:04:05Z') && timestamp(10) - timestamp(4) == duration('6s')
timestamp(0) - duration('1s') < timestamp(0) && duration('1h') + timestamp(0) == timestamp(3600) && duration('1h') - duration('1m') == duration('59m')
timestamp('9999-12-31T23:59:59Z') + duration('1s') == timestamp(0) !! timestamp overflow
timestamp(dyn('2026-01-02 03:04:05Z')) == timestamp(0) !! no time as in RFC 3339
[timestamp('2026-08-09T10:11:12.345Z')].all(t, t.getFullYear() == 2026 && t.getMonth() == 7 && t.getDate() == 9 && t.getDayOfMonth() == 8 && t.getDayOfWeek() == 0)
[timestamp('2026-08-09T10:11:12.345Z')].all(t, t.getDayOfYear() == 220 && t.getHours() == 10 && t.getMinutes() == 11 && t.getSeconds() == 12 && t.getMilliseconds() == 345)
[duration('3723.5s')].all(d, d.getHours() == 1 && d.getMinutes() == 62 && d.getSeconds() == 3723 && d.getMilliseconds() == 3723500)
'héllo'.contains('él') && 'héllo'.startsWith('hé') && 'héllo'.endsWith('lo') && 'héllo'.matches('^h.l+o$') && matches('abc', '[b]')
'héllo'.charAt(1) == 'é' && 'héllo'.charAt(5) == '' && 'héllo'.indexOf('l') == 2 && 'héllo'.indexOf('l', 3) == 3 && 'héllo'.indexOf('x') == -1 && 'ab'.indexOf('', 9) == 2
'héllo'.lastIndexOf('l') == 3 && 'héllo'.lastIndexOf('l', 2) == 2 && 'héllo'.lastIndexOf('') == 5 && 'héllo'.lastIndexOf('o', 9) == -1 && 'abab'.lastIndexOf('ab', 1) == 0
'héllo'.substring(1) == 'éllo' && 'héllo'.substring(1, 2) == 'é' && 'a,b,c'.split(',', 2) == ['a', 'b,c'] && 'é'.split('') == ['é'] && 'a'.split('a', 0) == []
' a '.trim() == 'a' && 'aÉ'.upperAscii() == 'AÉ' && 'AÉ'.lowerAscii() == 'aÉ' && 'ab'.reverse() == 'ba' && strings.quote("a\n\"") == '"a\\n\\""'
'ab'.substring(3) == '' !! index out of range: 3
'ab'.substring(2, 1) == '' !! a part of a text from 2 to 1
'ab'.charAt(-1) == '' !! index out of range: -1
[3, 1, 2].sort() == [1, 2, 3] && ['b', 'a'].sort() == ['a', 'b'] && [1, 2].reverse() == [2, 1] && [1, 2, 3].slice(1, 3) == [2, 3]
[[1], [2, [3]]].flatten() == [1, 2, [3]] && [[1], [2, [3]]].flatten(2) == [1, 2, 3] && lists.range(3) == [0, 1, 2] && ['bb', 'a'].sortBy(s, s.size()) == ['a', 'bb']
[1, dyn('a')].sort() == [] !! must have the same type
[1].slice(0, 2) == [] !! a part of a list from 0 to 2
lists.range(-1) == [] !! a list of -1 elements
math.greatest(1, 2.5, 2u) == 2.5 && math.least([3, 1, 2]) == 1 && math.greatest(-1) == -1 && math.least(1, 0u) == 0u
math.greatest([1].filter(x, x > 1)) == 1 !! of an empty list
math.abs(-3) == 3 && math.abs(-1.5) == 1.5 && math.sign(-3) == -1 && math.sign(0u) == 0u && math.sign(2.5) == 1.0 && math.sqrt(9) == 3.0
math.ceil(1.2) == 2.0 && math.floor(-1.2) == -2.0 && math.round(1.5) == 2.0 && math.trunc(-1.7) == -1.0
math.isNaN(math.sqrt(-1.0)) && math.isInf(1.0 / 0.0) && !math.isFinite(1.0 / 0.0) && math.isFinite(1.0)
math.bitAnd(6, 3) == 2 && math.bitOr(6, 3) == 7 && math.bitXor(6, 3) == 5 && math.bitNot(0) == -1 && math.bitAnd(6u, 3u) == 2u
math.bitShiftLeft(1, 3) == 8 && math.bitShiftRight(-1, 63) == 1 && math.bitShiftLeft(1, 64) == 0
math.bitShiftLeft(1, -1) == 0 !! by -1
true // a comment
`

func TestLanguage(t *testing.T) {
	c := cel.New()
	for line := range strings.Lines(language) {
		source, want, fails := strings.Cut(strings.TrimSpace(line), " !! ")
		if source == "" {
			continue
		}
		got := ""
		p, err := c.Check(source, variables(t), nil)
		if err == nil {
			var holds bool
			holds, err = p.Holds(t.Context(), values())
			if !holds && err == nil {
				got = "false"
			}
		}
		if err != nil {
			got = err.Error()
		}
		if fails != (err != nil) || !strings.Contains(got, want) || !fails && got != "" {
			t.Errorf("%s: %s", source, got)
		}
	}
}
