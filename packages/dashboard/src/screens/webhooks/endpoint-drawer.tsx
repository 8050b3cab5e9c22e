import type { Webhook, WebhookWithSecret } from "@postrider/client";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { changedFields, isEmpty } from "../../api/changed-fields.ts";
import { Button } from "../../kit/button.tsx";
import { DiscardDialog } from "../../kit/confirm-dialog.tsx";
import { Drawer } from "../../kit/dialog.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useWords } from "../../words/use-words.ts";
import { bodyOf, draftOf, type EndpointDraft, faultsOf, refusalOf } from "./endpoint-draft.ts";
import { EndpointFields } from "./endpoint-fields.tsx";
import { webhooksApi } from "./webhooks-api.ts";
import { webhooksWords } from "./webhooks-words.ts";

interface EndpointDrawerProps {
  /** Without it a new one is created. */
  readonly endpoint?: Webhook | undefined;
  readonly onClose: () => void;
  readonly onSaved: (saved: WebhookWithSecret) => void;
}

/** Esc asks only if something was changed; faults are shown after the button was pressed once. */
export function EndpointDrawer({ endpoint, onClose, onSaved }: EndpointDrawerProps) {
  const words = useWords(webhooksWords);
  const [first] = useState(() => draftOf(endpoint));
  const [draft, setDraft] = useState<EndpointDraft>(first);
  const [isTried, setTried] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const saving = useSaving({ endpoint, onClose, onSaved }, first, draft);
  const faults = faultsOf(draft, words);
  const refused = refusalOf(saving.error, words);
  const press = () => {
    setTried(true);
    const isFaulty = Object.values(faults).some((fault) => fault !== undefined);
    if (isFaulty) document.querySelector<HTMLElement>("dialog [data-first]")?.focus();
    else saving.mutate();
  };
  return (
    <>
      <Drawer
        title={endpoint === undefined ? words.newEndpoint : words.editTitle}
        onClose={() => {
          if (JSON.stringify(draft) === JSON.stringify(first)) onClose();
          else setAsking(true);
        }}
        footer={
          <Button kind="primary" className="push" busy={saving.isPending} onClick={press}>
            {endpoint === undefined ? words.create : words.save}
          </Button>
        }
      >
        <div className="stack">
          <EndpointFields
            endpoint={endpoint}
            draft={draft}
            faults={{ ...(isTried ? faults : {}), ...refused }}
            onChange={(changed) => {
              setDraft({ ...draft, ...changed });
              saving.reset();
            }}
          />
          {saving.error !== null && refused === undefined && <ErrorNotice error={saving.error} />}
        </div>
      </Drawer>
      {isAsking && <DiscardDialog onKeep={() => setAsking(false)} onDiscard={onClose} />}
    </>
  );
}

function useSaving(
  { endpoint, onClose, onSaved }: EndpointDrawerProps,
  first: EndpointDraft,
  draft: EndpointDraft,
) {
  const words = useWords(webhooksWords);
  return useMutation({
    mutationFn: async () => {
      if (endpoint === undefined)
        return await webhooksApi.create({ ...bodyOf(draft), signing: draft.signing });
      const changes = changedFields(bodyOf(first), bodyOf(draft));
      return isEmpty(changes) ? undefined : await webhooksApi.update(endpoint.id, changes);
    },
    onSuccess: (saved) => {
      if (saved === undefined) return onClose();
      showToast(words.saved);
      onSaved(saved);
    },
  });
}
