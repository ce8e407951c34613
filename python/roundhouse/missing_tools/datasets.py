from roundhouse._shim import say_missing

say_missing(__name__)
