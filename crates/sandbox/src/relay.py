# Takes what comes to a port of the container's own loopback to the gateway's socket. Bounds what one container can hold open at once, and
# what is on its way: buffers of the kernel count for the memory of this box, too.
import asyncio
import os
import socket
import sys

PORT, SOCKET, MOST = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
BUFFER = 32768
guests = 0


def bounded(family):
    end = socket.socket(family)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
    end.setblocking(False)
    return end


async def to_gateway():
    end = bounded(socket.AF_UNIX)
    try:
        await asyncio.get_running_loop().sock_connect(end, SOCKET)
        return await asyncio.open_unix_connection(sock=end, limit=BUFFER)
    except BaseException:
        end.close()
        raise


async def pass_on(source, sink):
    while piece := await source.read(BUFFER):
        sink.write(piece)
        await sink.drain()
    sink.write_eof()


async def admit(reader, writer):
    global guests
    ends = [writer]
    guests += 1
    try:
        if guests > MOST:
            raise OSError("too many connections")
        inner, outer = await to_gateway()
        ends.append(outer)
        for end in ends:
            end.transport.set_write_buffer_limits(BUFFER)
        await asyncio.gather(pass_on(reader, outer), pass_on(inner, writer))
    except OSError:
        # One end is gone, so the other has nobody to talk to.
        for end in ends:
            end.transport.abort()
    finally:
        guests -= 1
        for end in ends:
            end.close()


async def main():
    # A gateway that is not reached from here (a folder that cannot be entered, a share of another machine) is an error now: no
    # agent is to be blamed for it. Where there is no socket there is no gateway yet.
    if os.path.exists(SOCKET) or not os.access(os.path.dirname(SOCKET), os.X_OK):
        (await to_gateway())[1].close()
    listener = bounded(socket.AF_INET)
    # Connections have the buffers of what they came by.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", PORT))
    server = await asyncio.start_server(admit, sock=listener, limit=BUFFER)
    print("ready", flush=True)
    await server.serve_forever()


try:
    asyncio.run(main())
except OSError as error:
    sys.exit(f"{SOCKET} is not reached: {error}")
