package main

func Example() {
	main()
	// Output: completed {"greeting":"Hello, world!"}
}
