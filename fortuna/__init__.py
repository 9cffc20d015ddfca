"""fortuna"""
