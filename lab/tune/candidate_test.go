package tune

import (
	"go/ast"
	"go/format"
	"go/parser"
	"reflect"
	"strconv"
	"testing"

	"github.com/orwl/go-orwl/locks"
)

// TestLiteral builds the options again from what Go's parser makes of their literal.
func TestLiteral(t *testing.T) {
	for _, o := range []locks.Options{
		{},
		{TL: []int{50, 8}, TDC: 16, TR: 1000, TW: 400},
		{Backoff: locks.Backoff{Min: 2, Max: 64}, RemoteBackoff: locks.Backoff{Max: 9}},
		{StepBack: true, Count: locks.CountLocal, OwnNode: true, Name: "a \"b\""},
	} {
		text := Candidate{Options: o}.Literal()
		expr, err := parser.ParseExpr(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var again locks.Options
		build(t, expr, reflect.ValueOf(&again).Elem())
		if !reflect.DeepEqual(again, o) {
			t.Errorf("%s is %+v, want %+v", text, again, o)
		}
		if tidy, err := format.Source([]byte(text)); string(tidy) != text {
			t.Errorf("%s: gofmt writes %s, %v", text, tidy, err)
		}
	}
}

// build gives a value what an expression says. It fails where the compiler would.
func build(t *testing.T, e ast.Expr, v reflect.Value) {
	switch e := e.(type) {
	case *ast.CompositeLit:
		if got := typeName(e.Type); got != v.Type().String() {
			t.Fatalf("a literal of type %s, want %s", got, v.Type())
		}
		for _, part := range e.Elts {
			if pair, ok := part.(*ast.KeyValueExpr); ok {
				field := v.FieldByName(pair.Key.(*ast.Ident).Name)
				if !field.IsValid() {
					t.Fatalf("no field %v", pair.Key)
				}
				build(t, pair.Value, field)
				continue
			}
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			build(t, part, v.Index(v.Len()-1))
		}
	case *ast.Ident:
		v.SetBool(e.Name == "true")
	case *ast.BasicLit:
		if v.Kind() == reflect.String {
			text, _ := strconv.Unquote(e.Value)
			v.SetString(text)
			return
		}
		n, err := strconv.ParseInt(e.Value, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		v.Set(reflect.ValueOf(n).Convert(v.Type()))
	default:
		t.Fatalf("an expression of type %T", e)
	}
}

// typeName is a type as reflect writes it.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.X.(*ast.Ident).Name + "." + e.Sel.Name
	case *ast.ArrayType:
		return "[]" + typeName(e.Elt)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

func TestBounds(t *testing.T) {
	b := Bounds{CV: .5, Wait: 100}
	for _, c := range []struct{ cv, wait, want float64 }{{.5, 100, 0}, {1, 100, 1}, {.5, 150, .5}, {1, 400, 3}} {
		if got := b.beyond(Score{CV: c.cv, Wait: c.wait}); got != c.want {
			t.Errorf("cv %g, wait %g: beyond by %g, want %g", c.cv, c.wait, got, c.want)
		}
	}
	if got := (Bounds{}).beyond(Score{CV: 9, Wait: 9}); got != 0 {
		t.Errorf("beyond no bounds by %g", got)
	}
	fair, fast := Score{Cost: 10}, Score{Cost: 1, Beyond: .1}
	if !fair.better(fast, 0) || fast.better(fair, 0) {
		t.Error("a candidate beyond the bounds is better than one that keeps them")
	}
	if a, b := (Score{Cost: 98}), (Score{Cost: 100}); !a.better(b, .01) || a.better(b, .03) {
		t.Error("2 % is better by more than 1 %, and not by more than 3 %")
	}
}
