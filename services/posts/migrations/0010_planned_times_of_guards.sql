alter table duplicate_guards
  -- When the target is due; null for a guard of a release before this column, which clashes with every time.
  add column due_at timestamptz(3),
  -- Whether the guard was compared with the others. A post that was forced, or whose outcome changed late, is not.
  add column is_checked boolean not null default false;

update duplicate_guards as guard
set due_at = target.due_at,
  is_checked = guard.exclusive
from targets as target
where target.id = guard.target_id;

create index duplicate_guards_content on duplicate_guards (account_id, content_hash);

-- Whether a guard keeps the same content from being published at a planned time: within 24 hours of its own planned time, of now if
-- its outcome is open, or of its publication, which is 24 hours before it expires.
create function guard_clashes(due_at timestamptz, expires_at timestamptz, planned_at timestamptz) returns boolean
language sql stable as $$
  select case
    when expires_at is not null then expires_at > now() and planned_at < expires_at
    when due_at is null then true
    else planned_at > due_at - interval '24 hours' and planned_at < greatest(due_at, now()) + interval '24 hours'
  end
$$;

-- The lock under which guards of one content of one account are inserted and compared.
create function lock_guard(account_id uuid, content_hash bytea) returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended(account_id::text || encode(content_hash, 'hex'), 0))
$$;

-- Compares a new guard with those of concurrent transactions. The second statement begins after the lock was taken, so it sees what
-- every earlier holder of the lock has committed; of several concurrent posts, exactly one is stored.
create function check_guard() returns trigger language plpgsql as $$
begin
  perform lock_guard(new.account_id, new.content_hash);
  if exists (
    select 1
    from duplicate_guards as held
    where held.account_id = new.account_id
    and held.content_hash = new.content_hash
    and held.target_id <> new.target_id
    and guard_clashes(held.due_at, held.expires_at, new.due_at)
  ) then
    perform refuse('duplicate_content');
  end if;
  return null;
end
$$;

create trigger duplicate_guards_check after insert on duplicate_guards for each row
when (new.is_checked)
execute function check_guard();
