package schemas

import "encoding/json"

func (n *node) describe() string { return "TODO" }

func (n *node) render() json.RawMessage { return nil }
