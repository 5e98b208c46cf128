// Gives the conformance suite, which wants node 22, the one function that older ones lack and
// that tests of clients don't call.
import fs from 'node:fs'
import { register } from 'node:module'

const module = text => 'data:text/javascript,' + encodeURIComponent(text)

if (!fs.globSync) {
  const names = Object.keys(fs).filter(name => /^\w+$/.test(name)).join(', ')
  const url = module(`import fs from 'node:fs'; export default fs; export const { ${names} } = fs; export const globSync = () => []`)
  register(module(`export const resolve = (name, context, next) =>
    name === 'fs' && context.parentURL.includes('/conformance/') ? { url: ${JSON.stringify(url)}, shortCircuit: true } : next(name, context)`))
}
