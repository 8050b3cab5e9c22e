import type { Account } from "@postrider/client";
import { useMutation } from "@tanstack/react-query";
import { api } from "../../api/api.ts";
import { queryClient } from "../../api/query-client.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { showToast } from "../../kit/toast.tsx";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { accountsWords } from "./accounts-words.ts";

interface DisconnectDialogProps {
  readonly account: Account;
  readonly onClose: () => void;
}

export function DisconnectDialog({ account, onClose }: DisconnectDialogProps) {
  const words = useWords(accountsWords);
  const kit = useWords(kitWords);
  const { id, username, platform } = account;
  const disconnection = useMutation({
    mutationFn: () => api.disconnectAccount(id),
    onSuccess: async () => {
      showToast(words.disconnected(username));
      onClose();
      await queryClient.invalidateQueries();
    },
  });
  return (
    <Dialog
      title={words.disconnectTitle(username, PLATFORMS[platform].name)}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{kit.cancel}</Button>
          <Button
            kind="danger-solid"
            busy={disconnection.isPending}
            onClick={() => disconnection.mutate()}
          >
            {words.disconnectNow}
          </Button>
        </>
      }
    >
      <p className="sm">{words.disconnectText}</p>
      {disconnection.error !== null && <ErrorNotice error={disconnection.error} />}
    </Dialog>
  );
}
