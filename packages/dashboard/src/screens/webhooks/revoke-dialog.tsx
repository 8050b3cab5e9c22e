import type { Webhook } from "@postrider/client";
import { ConfirmDialog } from "../../kit/confirm-dialog.tsx";
import { showToast } from "../../kit/toast.tsx";
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
  const revoke = async () => {
    await webhooksApi.revoke(id);
    showToast(words.revoked);
    onClose();
  };
  return (
    <ConfirmDialog
      title={words.revokeTitle(urlText(url))}
      confirm={words.revokeNow}
      act={revoke}
      onClose={onClose}
    >
      <p className="sm quiet">{words.revokeText}</p>
    </ConfirmDialog>
  );
}
