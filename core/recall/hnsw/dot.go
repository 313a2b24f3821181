package hnsw

// Dot is the product of two vectors of one length.
func Dot(a, b []float32) float32 { return dotBefore(a, b, b) }

// dotPlain is the product of two vectors of one length, on every processor.
func dotPlain(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for len(a) >= 16 {
		x, y := (*[16]float32)(a), (*[16]float32)(b)
		s0 += x[0]*y[0] + x[4]*y[4] + x[8]*y[8] + x[12]*y[12]
		s1 += x[1]*y[1] + x[5]*y[5] + x[9]*y[9] + x[13]*y[13]
		s2 += x[2]*y[2] + x[6]*y[6] + x[10]*y[10] + x[14]*y[14]
		s3 += x[3]*y[3] + x[7]*y[7] + x[11]*y[11] + x[15]*y[15]
		a, b = a[16:], b[16:]
	}
	for i, x := range a {
		s0 += x * b[i]
	}
	return s0 + s1 + s2 + s3
}
