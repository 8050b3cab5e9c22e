import { useQuery } from "@tanstack/react-query";
import { ShieldAlert } from "lucide-react";
import { useSearchParams } from "wouter";
import { LinkButton } from "../../kit/button.tsx";
import { Card, Note } from "../../kit/card.tsx";
import { EmptyState, Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Page } from "../../kit/page.tsx";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { automationsApi, type ListedRule } from "./automations-api.ts";
import { automationsWords } from "./automations-words.ts";
import css from "./automations.module.css";
import { NEW } from "./held-drafts.ts";
import { RuleEditor } from "./rule-editor.tsx";
import { NewRuleButton, RuleList } from "./rule-list.tsx";
import { Runs } from "./runs.tsx";
import { useReplyingAccounts } from "./use-replying-accounts.ts";
import { useWritten } from "./use-written.ts";

export function AutomationsScreen() {
  const words = useWords(automationsWords);
  const canWrite = useCan()("automations:write");
  const { data, error, refetch } = useQuery(automationsApi.rules());
  const { data: isSending } = useQuery(automationsApi.sending());
  return (
    <Page title={words.title}>
      {isSending === false && (
        <Note tone="warn" icon={ShieldAlert}>
          <strong>{words.blocked}</strong> {words.blockedHint}
        </Note>
      )}
      {!canWrite && <p className="sm muted">{words.readOnly}</p>}
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton />}
      {data && <Rules rules={data.rules} />}
    </Page>
  );
}

/** The address names the rule that is open. */
function Rules({ rules }: { readonly rules: readonly ListedRule[] }) {
  const canWrite = useCan()("automations:write");
  const [parameters, setParameters] = useSearchParams();
  const chosen = parameters.get("rule") ?? rules[0]?.id ?? "";
  const isNew = chosen === NEW && canWrite;
  const choose = (id: string) => setParameters({ rule: id });
  if (rules.length === 0 && !isNew) return <NoRules onNew={() => choose(NEW)} />;
  return (
    <RulesAndOne
      rules={rules}
      chosen={chosen}
      isNew={isNew}
      onChoose={choose}
      onClose={() => setParameters({}, { replace: true })}
    />
  );
}

interface RulesAndOneProps {
  readonly rules: readonly ListedRule[];
  readonly chosen: string;
  readonly isNew: boolean;
  readonly onChoose: (id: string) => void;
  readonly onClose: () => void;
}

function RulesAndOne({ rules, chosen, isNew, onChoose, onClose }: RulesAndOneProps) {
  const canWrite = useCan()("automations:write");
  const rule = rules.find(({ id }) => id === chosen);
  const written = useWritten(chosen, rule);
  return (
    <div className={css.layout}>
      <RuleList
        rules={rules}
        chosen={chosen}
        changed={written.changed}
        onNew={canWrite ? () => onChoose(NEW) : undefined}
      />
      {rule === undefined && !isNew ? (
        <Gone />
      ) : (
        <div className={css.detail}>
          <RuleEditor
            key={chosen}
            rule={rule}
            written={written}
            onMade={onChoose}
            onClosed={onClose}
          />
          {rule && <Runs key={`runs of ${rule.id}`} rule={rule} />}
        </div>
      )}
    </div>
  );
}

function NoRules({ onNew }: { readonly onNew: () => void }) {
  const words = useWords(automationsWords);
  const canWrite = useCan()("automations:write");
  const accounts = useReplyingAccounts();
  const isPossible = accounts.length > 0;
  return (
    <Card>
      {isPossible ? (
        <EmptyState title={words.none} action={canWrite && <NewRuleButton onNew={onNew} />}>
          {words.noneHint}
        </EmptyState>
      ) : (
        <EmptyState
          title={words.noAccount}
          action={<LinkButton href="/accounts">{words.toAccounts}</LinkButton>}
        >
          {words.noAccountHint}
        </EmptyState>
      )}
    </Card>
  );
}

function Gone() {
  const words = useWords(automationsWords);
  return (
    <Card>
      <EmptyState
        title={words.gone}
        action={<LinkButton href="/automations">{words.toRules}</LinkButton>}
      />
    </Card>
  );
}
