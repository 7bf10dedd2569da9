package login

import (
	"math"
	"strings"
	"unicode"
)

// isPunycode says whether a label, without its xn--, encodes letters, marks, digits or symbols beyond ASCII (RFC 3492
// section 6.2). What else the URL standard asks of them, such as normalization, is not checked.
func isPunycode(label string) bool {
	const base, tMin, tMax, skew, damp = 36, 1, 26, 38, 700
	var length, bias, char, index int64 = 0, 72, 128, 0
	if end := strings.LastIndexByte(label, '-'); end >= 0 {
		length, label = int64(end), label[end+1:]
	}
	if label == "" {
		return false
	}
	for isFirst := true; label != ""; isFirst = false {
		before := index
		for weight, k := int64(1), int64(base); ; k += base {
			if label == "" {
				return false
			}
			digit := int64(strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789", label[0]))
			label = label[1:]
			if digit < 0 || weight > math.MaxInt32 {
				return false
			}
			index += digit * weight
			threshold := min(max(k-bias, tMin), tMax)
			if digit < threshold {
				break
			}
			weight *= base - threshold
		}
		length++
		delta := (index - before) / 2
		if isFirst {
			delta = (index - before) / damp
		}
		delta += delta / length
		for bias = 0; delta > (base-tMin)*tMax/2; bias += base {
			delta /= base - tMin
		}
		bias += (base - tMin + 1) * delta / (delta + skew)
		char += index / length
		index = index%length + 1
		if char > unicode.MaxRune || !unicode.IsGraphic(rune(char)) || unicode.IsUpper(rune(char)) {
			return false
		}
	}
	return true
}
