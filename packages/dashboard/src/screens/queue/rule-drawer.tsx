import type { QueueSlotRule } from "@postrider/client";
import { useRef, useState } from "react";
import { api } from "../../api/api.ts";
import { changedFields, isEmpty } from "../../api/changed-fields.ts";
import { type Keyed, keyed } from "../../api/sending.ts";
import { Button } from "../../kit/button.tsx";
import { ConfirmDialog, DiscardDialog } from "../../kit/confirm-dialog.tsx";
import { Drawer } from "../../kit/dialog.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useAct } from "../../kit/use-act.ts";
import { ownZone } from "../../settings/settings.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { queueWords } from "./queue-words.ts";
import { bodyOf, draftOf, type RuleDraft, RuleFields, faultsOf } from "./rule-fields.tsx";

interface RuleDrawerProps {
  /** Undefined for a new one. */
  readonly rule: QueueSlotRule | undefined;
  readonly onClose: () => void;
}

type Asking = "discard" | "delete";

/** A rule beside the list. Esc asks only if something was changed. */
export function RuleDrawer({ rule, onClose }: RuleDrawerProps) {
  const words = useWords(queueWords);
  const first = useState(() => draftOf(rule, ownZone()))[0];
  const [draft, setDraft] = useState<RuleDraft>(first);
  const [isTried, setTried] = useState(false);
  const [asking, setAsking] = useState<Asking>();
  const save = useSave({ rule, onClose }, first, draft);
  const faults = faultsOf(draft, words);
  const isFaulty = Object.values(faults).some((fault) => fault !== undefined);
  const close = () => {
    if (JSON.stringify(draft) === JSON.stringify(first)) onClose();
    else setAsking("discard");
  };
  const press = () => {
    setTried(true);
    if (isFaulty) document.querySelector<HTMLElement>("dialog [data-first]")?.focus();
    else save.run();
  };
  return (
    <>
      <Drawer
        title={rule === undefined ? words.newRule : rule.name}
        onClose={close}
        footer={
          <>
            {rule && (
              <Button kind="danger" onClick={() => setAsking("delete")}>
                {words.delete}
              </Button>
            )}
            <Button kind="primary" className="push" busy={save.isBusy} onClick={press}>
              {rule === undefined ? words.create : words.save}
            </Button>
          </>
        }
      >
        <RuleFields draft={draft} faults={isTried ? faults : {}} onChange={setDraft} />
        {save.error !== undefined && <ErrorNotice error={save.error} />}
      </Drawer>
      {asking === "discard" && (
        <DiscardDialog onKeep={() => setAsking(undefined)} onDiscard={onClose} />
      )}
      {asking === "delete" && rule && (
        <Delete rule={rule} onKeep={() => setAsking(undefined)} onDeleted={onClose} />
      )}
    </>
  );
}

function useSave({ rule, onClose }: RuleDrawerProps, first: RuleDraft, draft: RuleDraft) {
  const words = useWords(queueWords);
  const sent = useRef<Keyed>(undefined);
  const create = async (body: ReturnType<typeof bodyOf>) => {
    sent.current = keyed(sent.current, JSON.stringify(body));
    await api.createQueueSlotRule(body, { idempotencyKey: sent.current.key });
  };
  return useAct(async () => {
    const body = bodyOf(draft);
    const changes = changedFields(bodyOf(first), body);
    if (rule === undefined) await create(body);
    else if (!isEmpty(changes)) await api.updateQueueSlotRule(rule.id, changes);
    showToast(rule === undefined ? words.created(body.name) : words.saved);
    onClose();
  });
}

interface DeleteProps {
  readonly rule: QueueSlotRule;
  readonly onKeep: () => void;
  readonly onDeleted: () => void;
}

function Delete({ rule, onKeep, onDeleted }: DeleteProps) {
  const words = useWords(queueWords);
  const { nothingHarmed } = useWords(kitWords);
  const remove = async () => {
    await api.deleteQueueSlotRule(rule.id);
    showToast(words.deleted);
    onDeleted();
  };
  return (
    <ConfirmDialog
      title={words.deleteTitle(rule.name)}
      confirm={words.deleteLast}
      keep={words.keep}
      act={remove}
      onClose={onKeep}
      errorTitle={() => nothingHarmed}
    >
      <p className="sm quiet">{words.deleteHint}</p>
    </ConfirmDialog>
  );
}
