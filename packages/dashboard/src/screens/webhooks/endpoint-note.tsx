import type { Webhook } from "@postrider/client";
import { useMutation } from "@tanstack/react-query";
import { CirclePause, CirclePlay, CircleX } from "lucide-react";
import { Button } from "../../kit/button.tsx";
import { Note } from "../../kit/card.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { webhooksApi } from "./webhooks-api.ts";
import { webhooksWords } from "./webhooks-words.ts";
import css from "./webhooks.module.css";

/** Why nothing is sent to the endpoint, and the way back. */
export function EndpointNote({ endpoint }: { readonly endpoint: Webhook }) {
  const words = useWords(webhooksWords);
  const canWrite = useCan()("webhooks:write");
  const { id, status, disabledReason } = endpoint;
  const resuming = useMutation({
    mutationFn: () =>
      webhooksApi.update(id, { status: "active" }, () => showToast(words.resumedDone)),
  });
  if (status === "active") return null;
  const isDisabled = status === "disabled";
  const why = disabledReason === "gone" ? words.disabledGone : words.disabledFailing;
  return (
    <div className={css.notes}>
      <Note
        tone={isDisabled ? "bad" : "info"}
        icon={isDisabled ? CircleX : CirclePause}
        actions={
          canWrite && (
            <Button
              small
              icon={CirclePlay}
              busy={resuming.isPending}
              onClick={() => resuming.mutate()}
            >
              {words.resume}
            </Button>
          )
        }
      >
        <strong>{isDisabled ? why : words.paused}</strong>{" "}
        {isDisabled ? words.disabledHint : words.pausedHint}
      </Note>
      {resuming.error !== null && <ErrorNotice error={resuming.error} />}
    </div>
  );
}
