-- Version 4. Tokens that a model call wrote to the provider's cache: they cost more than others. Calls of before count as none.
ALTER TABLE spent ADD COLUMN write_tok INTEGER NOT NULL DEFAULT 0;
