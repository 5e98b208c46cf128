package main

func Example() {
	main()
	// Output: completed {"words":["the","cat","and","the","dog"],"counts":{"and":1,"cat":1,"dog":1,"the":2}}
}
