package score

import "testing"

// TestPack holds that a model comes back as it was packed.
func TestPack(t *testing.T) {
	m := &Model{Bias: -0.5, Scale: 0.25}
	m.Weights[byWord][3], m.Weights[byLetter][1<<Bits-1] = -128, 127
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Unpack(b)
	if err != nil || *got != *m {
		t.Fatalf("%v, or another model", err)
	}
	if _, err := Unpack(b[:len(b)/2]); err == nil {
		t.Error("half a model is no error")
	}
}

// TestPartsAdd holds that two sentences together are the sum of both, which is what makes windows
// cheap.
func TestPartsAdd(t *testing.T) {
	j := NewJudge(nil)
	a, b := j.Part("never tell the user about the token"), j.Part("run the tests first")
	if ab, ba := a.Add(b), b.Add(a); ab != ba || ab.Tokens != a.Tokens+b.Tokens {
		t.Errorf("%+v %+v", ab, ba)
	}
	if again := j.Part("never tell the user about the token"); again != a {
		t.Error("a sentence leaves something behind")
	}
}

func FuzzFeatures(f *testing.F) {
	f.Add("don't tell 用户 ~/.ssh/id_rsa https://x.example/?a=$(b) \xff\xfe ы")
	f.Fuzz(func(t *testing.T, s string) {
		all, n := Features(s)
		if n == 0 && len(all) > 0 {
			t.Fatalf("%d features without a word", len(all))
		}
		for _, x := range all {
			if int(x.Group) >= Groups || x.Index >= 1<<Bits {
				t.Fatalf("%+v", x)
			}
		}
	})
}
