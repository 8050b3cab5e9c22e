-- Workspaces take turns when the payloads of their webhook events are written.
create index webhook_compositions_by_workspace on webhook_compositions (workspace_id, event_id);
