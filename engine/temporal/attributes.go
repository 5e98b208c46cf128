package temporal

import (
	"context"
	"fmt"
	"slices"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/plc-lang/plc/exec"
)

// The search attributes with which Temporal's pages and command find runs. The namespace must
// define them: see Client.SetUp. Their values are not encrypted.
var (
	runAttribute       = temporal.NewSearchAttributeKeyKeyword("PlcRun") // the ID of a run, also on its parts
	planAttribute      = temporal.NewSearchAttributeKeyKeyword("PlcPlan")
	statusAttribute    = temporal.NewSearchAttributeKeyKeyword("PlcStatus")
	questionsAttribute = temporal.NewSearchAttributeKeyInt64("PlcQuestions") // number of open questions
)

var attributeTypes = map[string]enumspb.IndexedValueType{
	runAttribute.GetName(): runAttribute.GetValueType(), planAttribute.GetName(): planAttribute.GetValueType(),
	statusAttribute.GetName(): statusAttribute.GetValueType(), questionsAttribute.GetName(): questionsAttribute.GetValueType(),
}

// mostAttribute is the most bytes of a search attribute's value; servers limit some kinds to 255.
const mostAttribute = 200

// SetUp defines the search attributes of runs in the namespace. Runs started before have none.
func (c *Client) SetUp(ctx context.Context) error {
	unknown, err := c.unknownAttributes(ctx)
	if err != nil || len(unknown) == 0 {
		return missing("", err)
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: c.namespace, SearchAttributes: unknown})
	return missing("", err)
}

// unknownAttributes returns the search attributes that the namespace doesn't define.
func (c *Client) unknownAttributes(ctx context.Context) (map[string]enumspb.IndexedValueType, error) {
	known, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: c.namespace})
	if err != nil {
		return nil, err
	}
	unknown := map[string]enumspb.IndexedValueType{}
	for name, of := range attributeTypes {
		switch has, ok := known.CustomAttributes[name]; {
		case !ok:
			unknown[name] = of
		case has != of:
			return nil, fmt.Errorf("the namespace %q has the search attribute %s as %s, and runs have it as %s", c.namespace, name, has, of)
		}
	}
	return unknown, nil
}

// attributed reports whether runs have search attributes. It returns false if the client may not
// ask the server.
func (c *Client) attributed(ctx context.Context) bool {
	unknown, err := c.unknownAttributes(ctx)
	return err == nil && len(unknown) == 0
}

// attributesOf returns the search attributes of a new workflow.
func attributesOf(run, plan string) temporal.SearchAttributes {
	return temporal.NewSearchAttributes(
		runAttribute.ValueSet(shortened(run, mostAttribute)), planAttribute.ValueSet(shortened(plan, mostAttribute)),
		statusAttribute.ValueSet(string(exec.Running)), questionsAttribute.ValueSet(0))
}

// attribute changes the search attributes of the workflow.
func (r *run) attribute(status exec.Status) error {
	if !r.Attributes {
		return nil
	}
	if status == "" {
		status = exec.Running
		if r.asked > 0 {
			status = exec.Awaiting
		}
	}
	return workflow.UpsertTypedSearchAttributes(r.ctx, statusAttribute.ValueSet(string(status)), questionsAttribute.ValueSet(int64(r.asked)))
}

// AttributeNames returns the names of the search attributes, separated by commas.
func AttributeNames() string {
	var all []string
	for name := range attributeTypes {
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
