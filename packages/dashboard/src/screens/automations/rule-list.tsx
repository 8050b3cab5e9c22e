import type { AutomationRule } from "@postrider/client";
import { Plus } from "lucide-react";
import { Link, useLocation } from "wouter";
import { useKeys } from "../../keys/use-keys.ts";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { PlatformTile } from "../../kit/platform-tile.tsx";
import { StatusLabel } from "../../kit/status.tsx";
import { accountNameOf } from "../../posts/account-name.ts";
import { useAccounts } from "../../posts/use-accounts.ts";
import { useSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { countText } from "../media/count-text.ts";
import type { ListedRule } from "./automations-api.ts";
import { automationsWords } from "./automations-words.ts";
import css from "./automations.module.css";

interface RuleListProps {
  readonly rules: readonly ListedRule[];
  readonly chosen: string;
  readonly changed: ReadonlySet<string>;
  /** Undefined for a session that may only read. */
  readonly onNew: (() => void) | undefined;
}

export function RuleList({ rules, chosen, changed, onNew }: RuleListProps) {
  const words = useWords(automationsWords);
  const [, navigate] = useLocation();
  const move = (step: number) => {
    const at = rules.findIndex(({ id }) => id === chosen) + step;
    const next = rules[at];
    if (next !== undefined) navigate(`/automations?rule=${next.id}`, { replace: true });
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  return (
    <Card
      title={words.rules}
      aside={words.count(rules.length)}
      actions={onNew && <Button small icon={Plus} aria-label={words.newRule} onClick={onNew} />}
    >
      <ul className={css.rules}>
        {rules.map((rule) => (
          <li key={rule.id}>
            <Row rule={rule} isChosen={rule.id === chosen} isChanged={changed.has(rule.id)} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

export function NewRuleButton({ onNew }: { readonly onNew: () => void }) {
  const words = useWords(automationsWords);
  return (
    <Button kind="primary" icon={Plus} onClick={onNew}>
      {words.newRule}
    </Button>
  );
}

interface RowProps {
  readonly rule: ListedRule;
  readonly isChosen: boolean;
  readonly isChanged: boolean;
}

function Row({ rule, isChosen, isChanged }: RowProps) {
  const words = useWords(automationsWords);
  const { language } = useSettings();
  const account = useAccounts().get(rule.accountId);
  const { runs } = rule;
  return (
    <Link
      href={`/automations?rule=${rule.id}`}
      className={css.rule}
      aria-current={isChosen || undefined}
    >
      <span className="row">
        <b className="clip" title={rule.name}>
          {rule.name}
        </b>
        <span className="push nowrap">
          <StatusLabel status={statusOf(rule)}>{words.status[rule.status]}</StatusLabel>
        </span>
      </span>
      <span className="row xs muted">
        {account && <PlatformTile platform={account.platform} />}
        <span className="clip">{account && accountNameOf(account)}</span>
        <span className="push nowrap">
          {isChanged ? words.changed : words.runCount(runs.count, countText(runs, language))}
        </span>
      </span>
    </Link>
  );
}

export function statusOf({ status }: AutomationRule): "draft" | "active" | "paused" | "revoked" {
  return status;
}
