// Makes ../static/codemirror.js.gz, and beside it the licences of what is in it. It is run by hand, with
// "npm ci && npm run build", when index.js or a version changes; building plc needs no Node.
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const made = await build({
  entryPoints: ["index.js"], outfile: "codemirror.js", write: false, bundle: true, minify: true, format: "esm", target: "es2022",
  legalComments: "none", metafile: true, banner: { js: "// Made by codemirror/build.mjs; the licences are in codemirror.txt." },
});
writeFileSync("../static/codemirror.js.gz", gzipSync(made.outputFiles[0].contents, { level: 9 }));
const names = new Set(Object.keys(made.metafile.inputs).map(f => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(f)?.[1]).filter(Boolean));
const texts = [...names].sort().map(name => {
  const { version, license } = JSON.parse(readFileSync(`node_modules/${name}/package.json`));
  return `${name} ${version} (${license})\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
});
writeFileSync("../static/codemirror.txt", `codemirror.js has parts of these packages.\n\n${texts.join("\n----\n\n")}`);
