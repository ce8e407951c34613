#!/bin/bash
# Copies the folders named on the command line into dated archives.
set -euo pipefail

target=${BACKUP_DIR:-$HOME/backup}
mkdir -p "$target"

for folder in "$@"; do
  if [ ! -d "$folder" ]; then
    echo "skipping $folder: no such directory" >&2
    continue
  fi
  name=$(basename "$folder")-$(date +%Y%m%d).tar.gz
  tar -czf "$target/$name" -C "$(dirname "$folder")" "$(basename "$folder")"
  echo "$folder -> $target/$name"
done
