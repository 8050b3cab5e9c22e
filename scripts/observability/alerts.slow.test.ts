import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../check/run-command.ts";
import { type RuleTest, testRules } from "./promtool.ts";
import { parseRules, RULE_FILES } from "./rules.ts";

type RuleFile = ReturnType<typeof parseRules>;

/** Each series with its values, as `promtool` writes them. */
type Series = Readonly<Record<string, string>>;

interface Case {
  readonly alert: string;
  readonly what?: string;
  readonly at?: string;
  readonly fires: Series;
  readonly quiet: Series;
}

const FOLDER = join(root, "deploy/observability");
const FILES = RULE_FILES.map((name) => join(FOLDER, name));
const CASES = parse(readFileSync(join(import.meta.dirname, "alert-cases.yaml"), "utf8"), {
  merge: true,
}) as readonly Case[];

function toTest({ alert, at = "20m" }: Case, series: Series, fires: boolean) {
  const firing = `count(ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0 or vector(0)`;
  return {
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      { expr: firing, eval_time: at, exp_samples: [{ labels: "{}", value: fires ? 1 : 0 }] },
    ],
  };
}

/** The rules of the alert, and those that record the series which these read. */
function findRulesOf(alert: string, { groups }: RuleFile) {
  const rules = groups.flatMap((group) => group.rules);
  const found = new Set(rules.filter((rule) => rule.alert === alert));
  for (const { expr } of found)
    for (const rule of rules)
      if (rule.record !== undefined && expr.includes(rule.record)) found.add(rule);
  return found;
}

/**
 * A fault names the alert, and whether it was expected (1) or not (0). Only the alert and what it
 * is made of are evaluated: all rules in each minute of each case would take ten times as long.
 */
function toRuleTest(alert: string, file: RuleFile): RuleTest {
  const needed = findRulesOf(alert, file);
  const groups = file.groups
    .map(({ name, rules }) => ({ name, rules: rules.filter((rule) => needed.has(rule)) }))
    .filter(({ rules }) => rules.length > 0);
  const cases = CASES.filter((one) => one.alert === alert);
  const tests = cases.flatMap((one) => [
    toTest(one, one.fires, true),
    toTest(one, one.quiet, false),
  ]);
  const isLong = cases.some(({ at = "" }) => at.endsWith("h"));
  return { rules: { groups }, tests: { evaluation_interval: isLong ? "5m" : "1m", tests } };
}

test.each(RULE_FILES)(
  "every alert of %s fires on its made-up series, and is quiet on those that are nearly the same",
  (name) => {
    const text = readFileSync(join(FOLDER, name), "utf8");
    const file = parseRules(text);
    const alerts = [...new Set(CASES.map(({ alert }) => alert))].filter((alert) =>
      text.includes(`alert: ${alert}\n`),
    );
    expect(alerts.length).toBeGreaterThan(2);
    expect(testRules(alerts.map((alert) => toRuleTest(alert, file)))).toBe("");
  },
);

test("the dead-man's switch fires while there is no data at all", () => {
  const watchdog = { alert: "PostriderWatchdog", fires: {}, quiet: {} };
  const tests = [toTest(watchdog, {}, true)];
  const groups = FILES.flatMap((file) => parseRules(readFileSync(file, "utf8")).groups);
  expect(testRules([{ rules: { groups }, tests: { evaluation_interval: "1m", tests } }])).toBe("");
});

test("every alert except the dead-man's switch has made-up series", () => {
  const alerts = FILES.flatMap((file) => parseRules(readFileSync(file, "utf8")).groups)
    .flatMap(({ rules }) => rules)
    .flatMap(({ alert }) => alert ?? []);
  const cases = new Set([...CASES.map(({ alert }) => alert), "PostriderWatchdog"]);
  expect(alerts.filter((alert) => !cases.has(alert))).toEqual([]);
});
