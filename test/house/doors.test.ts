import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { read, root, sources } from "./sources.ts";

const doors = [
  ...sources("core/sdk/contract/*.ts"),
  "core/sdk/index.ts",
  "core/sdk/channel.ts",
  "core/sdk/store.ts",
  "core/sdk/reading.ts",
  "core/sdk/tools.ts",
  "core/testkit/index.ts",
].filter((path) => existsSync(join(root, path)));

/** Exported declarations of one file, each with the doc comment right above it. */
function declarations(
  text: string,
): readonly { readonly kind: string; readonly name: string; readonly comment: string }[] {
  const pattern = /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?^export (?:async )?(function|const|class|interface|type) (\w+)/gm;
  return [...text.matchAll(pattern)].map(([, comment = "", kind = "", name = ""]) => ({ kind, name, comment }));
}

/** A door's own declarations, and those that it hands on from another file by name. */
function exported(path: string): ReturnType<typeof declarations> {
  const text = read(path);
  const imports = [...text.matchAll(/^(?:import|export)(?: type)? \{([^}]+)\} from "(\.[^"]+)";/gm)];
  const handedOn = [...text.matchAll(/^export(?: type)? \{([^}]+)\}/gm)].flatMap((match) => names(match[1] ?? ""));
  const foreign = imports.flatMap(([, list = "", file = ""]) => {
    const wanted = names(list).filter((name) => handedOn.includes(name));
    return declarations(read(join(path, "..", file))).filter(({ name }) => wanted.includes(name));
  });
  return [...declarations(text), ...foreign];
}

const names = (list: string) =>
  list
    .split(",")
    .map((name) => name.replace(/^\s*(type\s+)?/, "").trim())
    .filter((name) => name !== "");

describe.each(doors)("the door %s", (door) => {
  test("every export has a doc comment", () => {
    const bare = exported(door).filter(({ comment }) => !/\w/.test(comment));
    expect(bare.map(({ name }) => name)).toEqual([]);
  });

  test("every function and class has an example", () => {
    const bare = exported(door).filter(
      ({ kind, comment }) => (kind === "function" || kind === "class") && !comment.includes("@example"),
    );
    expect(bare.map(({ name }) => name)).toEqual([]);
  });
});
