import type { DashboardApiKey } from "@postrider/rest/dashboard/api-key-schemas";
import { useMutation } from "@tanstack/react-query";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { showToast } from "../../kit/toast.tsx";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { keysApi } from "./keys-api.ts";
import { keysWords } from "./keys-words.ts";

interface RevokeKeyProps {
  readonly apiKey: DashboardApiKey;
  readonly onClose: () => void;
}

export function RevokeKey({ apiKey, onClose }: RevokeKeyProps) {
  const words = useWords(keysWords);
  const kit = useWords(kitWords);
  const { id, name, sessionCount, isShared } = apiKey;
  const revocation = useMutation({
    mutationFn: () => keysApi.revoke(id),
    onSuccess: () => {
      showToast(words.revoked(name));
      onClose();
    },
  });
  return (
    <Dialog
      title={words.revokeTitle(name)}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{kit.cancel}</Button>
          <Button
            kind="danger-solid"
            busy={revocation.isPending}
            onClick={() => revocation.mutate()}
          >
            {words.revokeKey}
          </Button>
        </>
      }
    >
      <p className="sm">{words.revokeText}</p>
      {sessionCount > 0 && <p className="sm">{words.revokeSessions(sessionCount)}</p>}
      {isShared && <p className="sm">{words.revokeShared}</p>}
      {revocation.error !== null && <ErrorNotice error={revocation.error} />}
    </Dialog>
  );
}
