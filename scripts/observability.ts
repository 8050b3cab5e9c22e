import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./check/run-command.ts";
import { RULE_FILES, toPrometheusRule, withRunbooks } from "./observability/rules.ts";

// Writes the rules of deploy/observability as an object of the Prometheus Operator:
//   npm run observability
// With --check it writes nothing, and fails if that object differs. With an address and a folder it
// writes both forms into the folder, with links that lead to the runbooks there:
//   npm run observability -- --runbooks https://git.example.com/postrider/blob/main my-rules
const OBJECT = "deploy/k8s/components/monitoring/prometheus-rule.yaml";

const { values, positionals } = parseArgs({
  options: { check: { type: "boolean", default: false }, runbooks: { type: "string" } },
  allowPositionals: true,
});
const [folder] = positionals;
const files = RULE_FILES.map((name) => {
  const text = readFileSync(join(root, "deploy/observability", name), "utf8");
  return { name, text: withRunbooks(text, values.runbooks) };
});
const object = toPrometheusRule(files.map(({ text }) => text));
if (folder !== undefined) {
  mkdirSync(folder, { recursive: true });
  for (const { name, text } of files) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, "prometheus-rule.yaml"), object);
} else if (!values.check) writeFileSync(join(root, OBJECT), object);
else if (readFileSync(join(root, OBJECT), "utf8") !== object) {
  process.stderr.write(`${OBJECT} is not current: run npm run observability, and commit\n`);
  process.exitCode = 1;
}
