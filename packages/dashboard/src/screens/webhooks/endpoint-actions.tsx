import type { Webhook } from "@postrider/client";
import { useMutation } from "@tanstack/react-query";
import { CirclePause, KeyRound, SlidersHorizontal, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../kit/button.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Menu } from "../../kit/menu.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { EndpointDrawer } from "./endpoint-drawer.tsx";
import { RevokeDialog } from "./revoke-dialog.tsx";
import { RotateDialog } from "./rotate-dialog.tsx";
import { webhooksApi } from "./webhooks-api.ts";
import { webhooksWords } from "./webhooks-words.ts";

interface EndpointActionsProps {
  readonly endpoint: Webhook;
  readonly onSecret: (secret: string | undefined) => void;
}

type Asking = "edit" | "rotate" | "revoke";

export function EndpointActions({ endpoint, onSecret }: EndpointActionsProps) {
  const words = useWords(webhooksWords);
  const canWrite = useCan()("webhooks:write");
  const [asking, setAsking] = useState<Asking>();
  const close = () => setAsking(undefined);
  const pausing = useMutation({
    mutationFn: () =>
      webhooksApi.update(endpoint.id, { status: "paused" }, () => showToast(words.pausedDone)),
  });
  if (!canWrite) return null;
  const pause = { label: words.pause, icon: CirclePause, onChoose: () => pausing.mutate() };
  const rotate = { label: words.rotate, icon: KeyRound, onChoose: () => setAsking("rotate") };
  const items = [
    ...(endpoint.status === "active" ? [pause] : []),
    // With Ed25519 there is no secret.
    ...(endpoint.signing === "hmac-sha256" ? [rotate] : []),
    { label: words.revoke, icon: Trash2, danger: true, onChoose: () => setAsking("revoke") },
  ];
  return (
    <>
      <Button small icon={SlidersHorizontal} onClick={() => setAsking("edit")}>
        {words.edit}
      </Button>
      <Menu label={words.more} items={items} />
      {pausing.error !== null && <ErrorNotice error={pausing.error} />}
      {asking === "edit" && <EndpointDrawer endpoint={endpoint} onClose={close} onSaved={close} />}
      {asking === "rotate" && (
        <RotateDialog
          endpoint={endpoint}
          onClose={close}
          onRotated={(secret) => {
            close();
            onSecret(secret);
          }}
        />
      )}
      {asking === "revoke" && <RevokeDialog endpoint={endpoint} onClose={close} />}
    </>
  );
}
