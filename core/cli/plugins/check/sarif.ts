/** Findings as SARIF 2.1.0, which code hosts show beside the lines of a change. */
import { relative } from "node:path";
import { packageVersion } from "../../../contract/package.ts";
import { product } from "../../../contract/product.ts";
import { type Finding, type RuleId, rules } from "./finding.ts";

const ids = Object.keys(rules) as RuleId[];

export function sarifOf(findings: readonly Finding[]): object {
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: `${product.packageName} plugins check`,
            version: packageVersion(),
            rules: ids.map((id) => ({
              id,
              shortDescription: { text: rules[id].summary },
              help: { text: rules[id].fix },
              defaultConfiguration: { level: rules[id].severity },
            })),
          },
        },
        results: findings.map(({ rule, severity, message, fix, at }) => ({
          ruleId: rule,
          ruleIndex: ids.indexOf(rule),
          level: severity,
          message: { text: `${message} ${fix}` },
          ...(at === undefined
            ? {}
            : {
                locations: [
                  { physicalLocation: { artifactLocation: { uri: uriOf(at.file) }, region: { startLine: at.line } } },
                ],
              }),
        })),
      },
    ],
  };
}

/** Relative to where the command runs, as in a checkout. */
const uriOf = (file: string) => relative(process.cwd(), file).split(/[\\/]/).map(encodeURIComponent).join("/");
