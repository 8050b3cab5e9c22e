import type { AutomationRule } from "@postrider/client";
import { Pause, Play, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Menu } from "../../kit/menu.tsx";
import { StatusLabel } from "../../kit/status.tsx";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { automationsWords } from "./automations-words.ts";
import css from "./automations.module.css";
import { DeleteRule } from "./delete-rule.tsx";
import { draftOf, faultsOf, isSame, type RuleDraft } from "./rule-draft.ts";
import { RuleFields } from "./rule-fields.tsx";
import { statusOf } from "./rule-list.tsx";
import { TryIt } from "./try-it.tsx";
import { useRuleWrites } from "./use-rule-writes.ts";
import type { Written } from "./use-written.ts";

interface RuleEditorProps {
  /** Undefined for one that does not exist yet. */
  readonly rule: AutomationRule | undefined;
  readonly written: Written;
  readonly onMade: (id: string) => void;
  readonly onClosed: () => void;
}

/** A rule as a sentence, a text to try it on, and what makes it work. */
export function RuleEditor({ rule, written, onMade, onClosed }: RuleEditorProps) {
  const words = useWords(automationsWords);
  const canWrite = useCan()("automations:write");
  const { draft, write } = written;
  const isChanged = rule === undefined || !isSame(draft, draftOf(rule));
  const writes = useRuleWrites(rule, written, onMade);
  const { shown, ifWhole, forget } = useFaults(draft);
  const drop = () => {
    forget();
    written.drop();
    if (rule === undefined) onClosed();
  };
  return (
    <Card
      title={rule?.name ?? words.untitled}
      aside={rule && <RuleState rule={rule} />}
      actions={
        rule && (
          <Head
            rule={rule}
            isChanged={isChanged}
            writes={writes}
            ifWhole={ifWhole}
            onGone={onClosed}
          />
        )
      }
      footer={
        <>
          <span>{words.neverSends}</span>
          {canWrite && isChanged && (
            <Foot
              label={rule === undefined ? words.create : words.save}
              isBusy={writes.isBusy}
              onDrop={drop}
              onSave={() => ifWhole(writes.save)}
            />
          )}
        </>
      }
    >
      <fieldset disabled={!canWrite} className={css.fields}>
        <RuleFields draft={draft} isNew={rule === undefined} faults={shown} onChange={write} />
      </fieldset>
      {writes.error !== null && <ErrorNotice error={writes.error} title={words.notSaved} />}
      <TryIt draft={draft} rule={rule} isChanged={isChanged} />
    </Card>
  );
}

/** Faults are shown after a button was pressed, which leads to the first of them. */
function useFaults(draft: RuleDraft) {
  const [isTried, setTried] = useState(false);
  const faults = faultsOf(draft);
  return {
    shown: isTried ? faults : [],
    forget: () => setTried(false),
    ifWhole: (act: () => void) => {
      setTried(true);
      if (faults.length === 0) act();
      else document.querySelector<HTMLElement>(`[data-fault="${faults[0]}"]`)?.focus();
    },
  };
}

interface FootProps {
  readonly label: string;
  readonly isBusy: boolean;
  readonly onDrop: () => void;
  readonly onSave: () => void;
}

function Foot({ label, isBusy, onDrop, onSave }: FootProps) {
  const words = useWords(automationsWords);
  return (
    <span className="row push">
      <Button small kind="ghost" onClick={onDrop}>
        {words.discard}
      </Button>
      <Button small kind="primary" busy={isBusy} onClick={onSave}>
        {label}
      </Button>
    </span>
  );
}

function RuleState({ rule }: { readonly rule: AutomationRule }) {
  const words = useWords(automationsWords);
  return (
    <StatusLabel status={statusOf(rule)} loud>
      {words.status[rule.status]}
    </StatusLabel>
  );
}

interface HeadProps {
  readonly rule: AutomationRule;
  readonly isChanged: boolean;
  readonly writes: ReturnType<typeof useRuleWrites>;
  readonly ifWhole: (act: () => void) => void;
  readonly onGone: () => void;
}

function Head({ rule, isChanged, writes, ifWhole, onGone }: HeadProps) {
  const words = useWords(automationsWords);
  const canWrite = useCan()("automations:write");
  const [isDeleting, setDeleting] = useState(false);
  if (!canWrite) return null;
  return (
    <>
      {rule.status === "active" ? (
        <Button small icon={Pause} busy={writes.isBusy} onClick={writes.pause}>
          {words.pause}
        </Button>
      ) : (
        <Button small icon={Play} busy={writes.isBusy} onClick={() => ifWhole(writes.activate)}>
          {isChanged ? words.saveAndActivate : words.activate}
        </Button>
      )}
      <Menu
        label={words.more}
        items={[
          {
            label: words.delete,
            icon: Trash2,
            danger: true,
            onChoose: () => setDeleting(true),
          },
        ]}
      />
      {isDeleting && (
        <DeleteRule rule={rule} onKeep={() => setDeleting(false)} onDeleted={onGone} />
      )}
    </>
  );
}
