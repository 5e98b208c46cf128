package flow

// Work returns how often the check joined marks or passed them on.
func (r *Report) Work() int { return r.work }
