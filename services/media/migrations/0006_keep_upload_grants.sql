-- Upload grants live as long as their media, so no job looks for expired ones.
drop index upload_grants_open;
