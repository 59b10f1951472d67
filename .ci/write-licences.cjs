// The licences of the libraries that the package contains: each asks that its text goes along.
const { readdirSync, readFileSync, writeFileSync } = require("node:fs");
const { join, sep } = require("node:path");

/** Packages that only name Apache-2.0 leave it to those who pass them on to add its terms. */
const apacheTerms = join(__dirname, "..", "node_modules", "typescript", "LICENSE.txt");

/** The folder of the package to which a file belongs; `undefined` for a file of this one. */
function packageFolder(file) {
  const parts = file.split(sep);
  const at = parts.lastIndexOf("node_modules");
  return at < 0 ? undefined : parts.slice(0, at + (parts[at + 1].startsWith("@") ? 3 : 2)).join(sep);
}

/** A package with the texts of its licence and notice. Without one, only that of Apache is known from its name. */
function packageOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder)
    .filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file))
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  if (texts.length === 0 && license !== "Apache-2.0")
    throw new Error(`${folder} has no licence text: leave it out of .ci/contained-libraries.cjs`);
  return { title: `${name} ${version}`, license, texts };
}

/** Writes the licences of all packages to which one of these files belongs. */
function writeLicences(files, target) {
  const folders = new Set(files.flatMap((file) => packageFolder(file) ?? []));
  const packages = [...folders].map(packageOf).sort((one, other) => (one.title < other.title ? -1 : 1));
  const section = (title, ...texts) => ["=".repeat(80), title, "=".repeat(80), ...texts];
  const needsTerms = packages.some(({ license, texts }) => license === "Apache-2.0" && !/TERMS AND COND/.test(texts));
  const all = [
    "This package contains the libraries below. Each is used under its own licence.",
    ...packages.flatMap(({ title, license, texts }) =>
      section(
        `${title} (${license})`,
        ...(texts.length > 0 ? texts : ["Licensed under the Apache License, Version 2.0, whose terms are below."]),
      ),
    ),
    ...(needsTerms ? section("Apache License 2.0", readFileSync(apacheTerms, "utf8").trim()) : []),
  ];
  writeFileSync(target, `${all.join("\n\n")}\n`);
}

module.exports = { writeLicences };
