// The site of the pages in docs, README.md and their neighbours, as they are in the repository.
import {execFileSync} from 'node:child_process'
import {cpSync, rmSync} from 'node:fs'
import {dirname, join, relative, resolve} from 'node:path'

const repository = 'https://github.com/plc-lang/plc'
const root = resolve(import.meta.dirname, '../../..')

// Vite finds its modules above the pages only, so that these are copied to where they are above.
const pages = resolve(import.meta.dirname, '../pages')
rmSync(pages, {recursive: true, force: true})
const files = execFileSync('git', ['ls-files', '-z', '*.md', '*.svg', ':!*testdata/*', ':!cmd', ':!.github'], {cwd: root, encoding: 'utf8'})
for (const file of files.split('\0').filter(Boolean)) cpSync(join(root, file), join(pages, index(file)))

export default {
  title: 'plc',
  description: 'A compiler and executor for the plans of AI agents',
  base: '/plc/',
  srcDir: pages,
  outDir: join(root, 'dist/site'),
  markdown: {html: false, config: plain, anchor: {slugify}},
  themeConfig: {
    nav: [
      {text: 'Tutorial', link: '/docs/tutorial'},
      {text: 'Plan language', link: '/docs/plan-language'},
      {text: 'Command line', link: '/docs/cli'},
      {text: 'Changelog', link: '/CHANGELOG'},
    ],
    outline: [2, 3],
    search: {provider: 'local'},
    socialLinks: [{icon: 'github', link: repository}],
  },
}

// index renames the page of a folder.
function index(file) {
  return file.replace(/README\.md(?=#|$)/, 'index.md')
}

// slugify returns the anchor that GitHub gives a heading.
function slugify(heading) {
  return heading.toLowerCase().replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-')
}

// plain has pages show braces as they are, and links to files that are no pages lead to the
// repository.
function plain(md) {
  const render = md.renderer.render
  md.renderer.render = function (...args) {
    return render.apply(this, args).replaceAll('{{', '&#123;&#123;')
  }
  md.core.ruler.push('sources', ({tokens, env}) => {
    for (const token of tokens.flatMap(t => t.children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : ''
      if (!href || /^([a-z]+:|#)/.test(href)) continue
      const file = relative(pages, resolve(dirname(env.realPath ?? env.path), href))
      token.attrSet('href', /\.md(#|$)/.test(href) ? index(href) : `${repository}/blob/main/${file}`)
    }
  })
}
