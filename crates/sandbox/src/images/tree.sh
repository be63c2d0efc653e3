#!/bin/sh
# Lays what the harness of this image needs to start into a folder ($1) that is copied over the root of another image: its
# programs, and their interpreter with the libraries that it needs. They lie in /opt/harness and /opt/stamina/harness only, so
# that nothing of the other image is replaced; their names lie in /opt/stamina/harness/bin, which stands first on the PATH of the harness.
set -eu
out=$1
home=/opt/stamina/harness
mkdir -p "$out$home/bin" "$out$home/lib" "$out$home/usr/bin" "$out$home/usr/lib"

# The programs that the recipe of the harness has added.
programs() {
    for path in /usr/local/bin/*; do
        case ${path##*/} in node | npm | npx | corepack | '*') ;; *) echo "$path" ;; esac
    done
}

if [ -d /opt/harness ]; then
    # Python, started by its own loader with its own libraries: the other image may have none, or another.
    python=$(readlink -f /usr/bin/python3)
    version=${python##*/}
    loader=$(ldd "$python" | sed -n 's/^[[:space:]]*\(\/[^ ]*ld-linux[^ ]*\) .*/\1/p')
    cp -L "$python" "$out$home/usr/bin/$version"
    cp -a "/usr/lib/$version" "$out$home/usr/lib/"
    cp -L "$loader" "$out$home/lib/ld.so"
    {
        ldd "$python"
        find "/usr/lib/$version" /opt/harness -name '*.so*' -type f -exec ldd {} + 2>/dev/null
    } | sed -n 's/^.*=> \(\/[^ ]*\) (.*$/\1/p' | grep -v '^/opt/harness/' | sort -u | while read -r library; do
        [ -e "$out$home/lib/${library##*/}" ] || cp -L "$library" "$out$home/lib/"
    done
    # Opened by its name when a thread ends.
    for library in /lib/*/libgcc_s.so.1 /usr/lib/*/libgcc_s.so.1; do
        [ ! -e "$library" ] || cp -L "$library" "$out$home/lib/"
    done
    cp -a /opt/harness "$out/opt/harness"
    for name in python python3 "$version"; do
        rm -f "$out/opt/harness/bin/$name"
        printf '#!/bin/sh\nexec %s/lib/ld.so --library-path %s/lib --argv0 "$0" %s/usr/bin/%s "$@"\n' \
            "$home" "$home" "$home" "$version" > "$out/opt/harness/bin/$name"
        chmod 755 "$out/opt/harness/bin/$name"
    done
    sed -i "s|^home = .*|home = $home/usr/bin|" "$out/opt/harness/pyvenv.cfg"
    programs | while read -r path; do
        ln -s "$(readlink -f "$path")" "$out$home/bin/${path##*/}"
    done
else
    # Node, or programs of their own.
    cp -L /usr/local/bin/node "$out$home/usr/bin/node"
    cp -a /usr/local/lib/node_modules "$out$home/node_modules"
    programs | while read -r path; do
        entry=$home/node_modules/$(readlink -f "$path" | sed 's|^/usr/local/lib/node_modules/||')
        if head -c 100 "$path" | head -n 1 | grep -aq '^#!.*node'; then
            printf '#!/bin/sh\nexec %s/usr/bin/node %s "$@"\n' "$home" "$entry" > "$out$home/bin/${path##*/}"
            chmod 755 "$out$home/bin/${path##*/}"
        else
            ln -s "$entry" "$out$home/bin/${path##*/}"
        fi
    done
fi
