import type { DashboardApiKey } from "@postrider/rest/dashboard/api-key-schemas";
import { ConfirmDialog } from "../../kit/confirm-dialog.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useWords } from "../../words/use-words.ts";
import { keysApi } from "./keys-api.ts";
import { keysWords } from "./keys-words.ts";

interface RevokeKeyProps {
  readonly apiKey: DashboardApiKey;
  readonly onClose: () => void;
}

export function RevokeKey({ apiKey, onClose }: RevokeKeyProps) {
  const words = useWords(keysWords);
  const { id, name, sessionCount, isShared } = apiKey;
  const revoke = async () => {
    await keysApi.revoke(id);
    showToast(words.revoked(name));
    onClose();
  };
  return (
    <ConfirmDialog
      title={words.revokeTitle(name)}
      confirm={words.revokeKey}
      act={revoke}
      onClose={onClose}
    >
      <p className="sm">{words.revokeText}</p>
      {sessionCount > 0 && <p className="sm">{words.revokeSessions(sessionCount)}</p>}
      {isShared && <p className="sm">{words.revokeShared}</p>}
    </ConfirmDialog>
  );
}
