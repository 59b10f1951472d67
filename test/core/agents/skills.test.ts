import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSkills, skillsHint, skillTools } from "../../../core/agents/tools/skills.ts";

const never = new AbortController().signal;
const call = { key: "", order: 1 };

function workspace(files: Readonly<Record<string, string>>) {
  const directory = mkdtempSync(join(tmpdir(), "skills-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const warnings: object[] = [];
  const file = (name: string) => join(directory, "agent", "skills", name, "SKILL.md");
  const put = (name: string, text: string) => {
    mkdirSync(join(directory, "agent", "skills", name), { recursive: true });
    writeFileSync(file(name), text);
  };
  for (const [name, text] of Object.entries(files)) put(name, text);
  const skills = createSkills({ directory, log: { warn: (fields) => warnings.push(fields) } });
  const names = async (allowed?: readonly string[], place?: readonly string[]) =>
    (await skills.of({ workspace: "agent", ...(allowed && { skills: allowed }) }, place)).map(({ name }) => name);
  return { skills, put, names, warnings, file };
}

const bread = "---\nname: bread\ndescription: Bakes bread.\n---\nKnead for ten minutes.\n";
const tea = '---\r\ndescription: "Makes tea."\r\nlicense: none\r\n---\r\nBoil water.';

test("skills are the workspace folders with a SKILL.md, named by its front matter or by the folder", async () => {
  const { skills } = workspace({
    "1-bread": bread,
    tea,
    long: "---\nname: long\ndescription: >-\n  Over several\n  lines.\nother: x\n---\n",
    draft: "no front matter",
    mute: "---\nname: mute\n---\n",
  });
  expect(await skills.of({ workspace: "agent" }, undefined)).toMatchObject([
    { name: "bread", description: "Bakes bread." },
    { name: "long", description: "Over several lines." },
    { name: "tea", description: "Makes tea." },
  ]);
  expect(await skills.of({}, undefined)).toEqual([]);
  expect(await skills.of({ workspace: "nowhere" }, undefined)).toEqual([]);
});

test("a skill without a description is left out, and this is reported once while it lasts", async () => {
  const { names, put, warnings } = workspace({ tea, mute: "---\nname: mute\n---\n" });
  for (let turn = 0; turn < 3; turn += 1) expect(await names()).toEqual(["tea"]);
  expect(warnings).toMatchObject([{ file: expect.stringContaining("mute") }]);
  put("mute", "---\nname: mute\ndescription: Says nothing, at last described.\n---\n");
  expect(await names()).toEqual(["mute", "tea"]);
});

test("a skill with an unreadable file is reported once and available as soon as the file can be read", async () => {
  const { names, put, warnings, file } = workspace({ tea, bread });
  // A file that exists and cannot be read, also for the superuser.
  rmSync(file("bread"));
  symlinkSync("/proc/self/mem", file("bread"));
  for (let turn = 0; turn < 3; turn += 1) expect(await names()).toEqual(["tea"]);
  expect(warnings).toEqual([{ file: file("bread"), error: expect.stringMatching(/EIO|ENOENT|link/) }]);
  rmSync(file("bread"));
  put("bread", bread);
  expect(await names()).toEqual(["bread", "tea"]);
});

test.each([
  [
    "its file is a link that leads out of the workspace",
    (outside: string, file: string) => symlinkSync(join(outside, "SKILL.md"), file),
  ],
  ["its file is a hard link", (outside: string, file: string) => linkSync(join(outside, "SKILL.md"), file)],
  [
    "its folder is a link that leads out of the workspace",
    (outside: string, file: string) => {
      rmSync(dirname(file), { recursive: true });
      symlinkSync(outside, dirname(file));
    },
  ],
])("a skill is left out and cannot be read if %s", async (_, link) => {
  const { names, warnings, file, skills, put } = workspace({ tea, bread });
  const known = await skills.of({ workspace: "agent" }, undefined);
  const outside = join(file("bread"), "../../../../outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "SKILL.md"), "---\nname: bread\ndescription: A secret.\n---\nroot:x:0:0\n");
  rmSync(file("bread"));
  link(outside, file("bread"));
  const [tool] = skillTools(known);
  expect(await tool?.run({ name: "bread" }, never, call)).toMatchObject({ ok: false, code: "skill_unreadable" });
  for (let turn = 0; turn < 3; turn += 1) expect(await names()).toEqual(["tea"]);
  expect(warnings).toEqual([{ file: file("bread"), error: expect.stringMatching(/link/) }]);
  rmSync(dirname(file("bread")), { recursive: true });
  put("bread", bread);
  expect(await names()).toEqual(["bread", "tea"]);
});

test("a skill may be a link within its workspace, and the workspace may be a link", async () => {
  const { file, skills } = workspace({ tea });
  symlinkSync(dirname(file("tea")), dirname(file("coffee")));
  symlinkSync(join(file("tea"), "../../.."), join(file("tea"), "../../../../linked"));
  expect(await skills.of({ workspace: "linked" }, undefined)).toMatchObject([{ name: "coffee" }, { name: "tea" }]);
});

test("an agent gets the skills it lists even in a large folder; without a list a hundred are logged", async () => {
  const many = Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`task-${index}`, tea]));
  const { names, warnings } = workspace({ ...many, zest: "---\ndescription: Grates zest.\n---\n" });
  expect(await names(["zest"])).toEqual(["zest"]);
  expect(warnings).toEqual([]);
  for (let turn = 0; turn < 2; turn += 1) expect(await names()).toHaveLength(100);
  expect(warnings).toEqual([{ workspace: "agent", skills: 121, most: 100 }]);
});

test.each([
  [undefined, undefined, ["bread", "tea"]],
  [["tea"], undefined, ["tea"]],
  [undefined, ["bread", "cake"], ["bread"]],
  [["tea"], ["bread"], []],
  [[], undefined, []],
  [undefined, [], []],
])("an agent with skills %j in a chat with %j has %j", async (allowed, place, expected) => {
  expect(await workspace({ bread, tea }).names(allowed, place)).toEqual(expected);
});

test("the model learns what each skill is for and reads its current text, but no other skill", async () => {
  const { skills, put } = workspace({ bread, tea });
  const found = await skills.of({ workspace: "agent" }, ["bread"]);
  expect(skillsHint(found)).toMatch(/read_skill[\s\S]*\n- bread: Bakes bread\.$/);
  put("bread", bread.replace("ten", "twenty"));
  const [tool] = skillTools(found);
  expect(await tool?.run({ name: "bread" }, never, call)).toMatchObject({
    ok: true,
    text: expect.stringContaining("twenty minutes"),
  });
  expect(await tool?.run({ name: "tea" }, never, call)).toMatchObject({ ok: false, code: "skill_unknown" });
  expect(await tool?.run(null, never, call)).toMatchObject({ ok: false, code: "skill_unknown" });
  expect([skillsHint([]), skillTools([])]).toEqual([undefined, []]);
});
