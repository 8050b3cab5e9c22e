import type { Webhook } from "@postrider/client";
import { useMutation } from "@tanstack/react-query";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { showToast } from "../../kit/toast.tsx";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { urlText } from "./url-text.ts";
import { webhooksApi } from "./webhooks-api.ts";
import { webhooksWords } from "./webhooks-words.ts";

interface RevokeDialogProps {
  readonly endpoint: Webhook;
  readonly onClose: () => void;
}

export function RevokeDialog({ endpoint: { id, url }, onClose }: RevokeDialogProps) {
  const words = useWords(webhooksWords);
  const kit = useWords(kitWords);
  const revocation = useMutation({
    mutationFn: () => webhooksApi.revoke(id),
    onSuccess: () => {
      showToast(words.revoked);
      onClose();
    },
  });
  return (
    <Dialog
      title={words.revokeTitle(urlText(url))}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{kit.cancel}</Button>
          <Button
            kind="danger-solid"
            busy={revocation.isPending}
            onClick={() => revocation.mutate()}
          >
            {words.revokeNow}
          </Button>
        </>
      }
    >
      <p className="sm quiet">{words.revokeText}</p>
      {revocation.error !== null && <ErrorNotice error={revocation.error} />}
    </Dialog>
  );
}
