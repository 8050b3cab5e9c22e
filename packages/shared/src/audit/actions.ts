export const AUDIT_ACTIONS = [
  "workspace.create",
  "workspace.verify",
  "workspace.set_limits",
  "workspace.set_storage_limit",
  "workspace.set_post_limits",
  "workspace.delete",
  "workspace.cancel_deletion",
  "workspace.freeze",
  "workspace.cancel_move",
  "workspace.switch",
  "workspace.seal_secrets",
  "workspace.open_secrets",
  "workspace.remove",
  "workspace.import",
  "workspace.finish_import",
  "key.create",
  "key.revoke",
  "dashboard_link.issue",
  "session.open",
  "session.revoke",
  "account.connect",
  "account.reconnect",
  "account.disconnect",
  "account.require_reconnect",
  "account.move",
  "account.update_settings",
  "account.check_live",
  "authorization.issue",
  "authorization.open",
  "authorization.finish",
  "publishing.pause",
  "publishing.resume",
  "target.resolve",
  "recovery.adopt",
  "recovery.adopt_store",
  "recovery.mark_restored",
  "recovery.trust",
  "event.redrive",
  "webhook.create",
  "webhook.update",
  "webhook.revoke",
  "webhook.rotate_secret",
  "automation_rule.create",
  "automation_rule.update",
  "automation_rule.revoke",
  "post.create",
  "post.update",
  "post.publish",
  "post.retry",
  "post.delete",
  "queue_slot_rule.create",
  "queue_slot_rule.update",
  "queue_slot_rule.delete",
  "media.create_upload",
  "media.complete_upload",
  "media.import",
  "media.update",
  "media.delete",
  "comment_action.request",
  "inbox_comment.set_state",
  "backfill.create",
  "backfill.update",
  "webhook_delivery.retry",
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export type AuditSubjectType =
  | "workspace"
  | "key"
  | "dashboard_link"
  | "session"
  | "account"
  | "platform"
  | "authorization"
  | "target"
  | "deployment"
  | "event"
  | "webhook"
  | "automation_rule"
  | "post"
  | "queue_slot_rule"
  | "media"
  | "comment_action"
  | "inbox_comment"
  | "backfill"
  | "webhook_delivery";

export function isAuditAction(text: string): text is AuditAction {
  return AUDIT_ACTIONS.some((action) => action === text);
}
